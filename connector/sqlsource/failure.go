package sqlsource

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// failure returns a driver's error as the library takes it. None of the driver's
// text goes out, because it may hold names and values.
func (s *Source) failure(ctx context.Context, err error, table string) error {
	var deliberate *wire.Error
	if err == nil || errors.As(err, &deliberate) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why := s.flavor.Reason(err)
	if why == ReasonOther && brokeOff(err) {
		why = ReasonStarting
	}
	return s.explain(err, why, table)
}

// brokeOff reports whether the connection ended under a statement: a server that
// stops may say so first, or not.
func brokeOff(err error) bool {
	for _, cause := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, driver.ErrBadConn} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return err.Error() == "invalid connection" // of go-sql-driver/mysql
}

// explain returns the error that says why, or err if nobody knows.
func (s *Source) explain(err error, why Reason, table string) error {
	switch why {
	case ReasonRejected:
		return connector.CheckFailed("The database refused the user name or the password, or the user may not connect to this database. " +
			"Check them. If they are right, ask whoever runs the database: a server that demands TLS may refuse so, too.")
	case ReasonNoDatabase:
		return connector.CheckFailed("There is no database of this name, or it cannot be opened. Check the name of the database.")
	case ReasonNotDatabase:
		return connector.CheckFailed("This is not a database of %s: it is something else, or it is encrypted or damaged. "+
			"Check which one is named.", s.engine())
	case ReasonProtocol:
		return connector.CheckFailed("Something answers at this address, but it is not %s. Check the host and the port.", s.engine())
	case ReasonTLSRequired:
		return connector.CheckFailed("The server refuses this connection without encryption: switch TLS on in the connector, " +
			"or ask whoever runs the server whether this user may connect to this database.")
	case ReasonTLSRefused:
		return connector.CheckFailed("The server does not encrypt connections, as the connector demands: " +
			"have TLS set up on the server, or switch it off in the connector.")
	case ReasonCertificate:
		return connector.CheckFailed("The certificate of the server cannot be verified. It must be valid today, be issued " +
			"by an authority that the connector trusts, and name the host that the connector connects to.")
	case ReasonUnreachable:
		return passing("The database server cannot be reached. It may be down, or not open to this connector: ask whoever runs it.")
	case ReasonSilent:
		return passing("Something takes connections at this address, but does not answer as %s does. "+
			"Check the host and the port; if they are right, the server is too busy: try again later.", s.engine())
	case ReasonBusy:
		return passing("The database has no free connection at the moment. Try again in a moment. " +
			"If it stays so, ask whoever runs the database to raise its limit of connections, such as max_connections.")
	case ReasonStarting:
		return passing("The database server is starting up or shutting down, or has ended the session. Try again in a moment.")
	case ReasonLocked:
		return passing("Another program holds a lock on the database. Try again in a moment. " +
			"If it stays so, have the connector wait longer for locks, such as by busy_timeout.")
	case ReasonNoTable:
		if table == "" {
			return err
		}
		s.cache.clear()
		return connector.UnknownEntity("table %s, or a column of it, no longer exists", wire.QuoteName(table))
	case ReasonForbidden:
		return connector.BadRequest("The user of the database may not read table %s. Grant it to the user, or leave the table out.",
			wire.QuoteName(table))
	case ReasonEncoding:
		if table == "" {
			return connector.CheckFailed("A name or a comment in the database has bytes that mean nothing in the database's encoding. " +
				"Ask whoever runs the database to correct it.")
		}
		return connector.BadRequest("Table %s has a text with bytes that mean nothing in the database's encoding. "+
			"Correct it, or leave the column out.", wire.QuoteName(table))
	case ReasonTimeout:
		return connector.Timeout("the database ended the statement because it took too long")
	}
	return err
}

// passingTrouble is trouble that is likely to pass, and that neither the caller
// nor the connector has made. It is answered 408, as for any upstream that does
// not answer in time, and on /check as a sentence for the person at the form.
type passingTrouble struct{ answer *wire.Error }

// Error returns the sentence.
func (p *passingTrouble) Error() string { return p.answer.Error() }

// Unwrap returns the error as every route but /check answers it.
func (p *passingTrouble) Unwrap() error { return p.answer }

func passing(format string, args ...any) error {
	return &passingTrouble{connector.Timeout(format, args...)}
}

// forPerson returns the error of a check.
func forPerson(err error) error {
	var trouble *passingTrouble
	if errors.As(err, &trouble) {
		return connector.CheckFailed("%s", trouble.answer.Message)
	}
	return err
}

// engine returns what messages call the engine.
func (s *Source) engine() string {
	switch s.flavor.(type) {
	case postgres:
		return "PostgreSQL"
	case mysql:
		return "MySQL or MariaDB"
	case sqlite:
		return "SQLite"
	}
	return "the expected engine"
}
