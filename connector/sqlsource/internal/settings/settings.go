// Package settings says what a flavor states of a session.
package settings

// Setting is a setting of a session that changes what a statement answers, or a view that it
// reads. A server, a database, a user and a connection string may have set it, and a pooler may
// give a session on which somebody else has, so the flavor states it.
type Setting struct {
	Name  string
	Value string // that is stated, as SQL
	Why   string // it changes an answer
}
