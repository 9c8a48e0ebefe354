package wire

import "strconv"

// maxQuoted is the number of characters of a name that an error shows.
const maxQuoted = 64

// QuoteName returns the name of a table or a field from a request as an error
// message shows it: quoted, and cut to 64 characters, so that no body comes back
// whole. Use it in the errors of a source. Never show values.
func QuoteName(name string) string {
	n := 0
	for i := range name {
		if n == maxQuoted {
			return strconv.Quote(name[:i]) + "..."
		}
		n++
	}
	return strconv.Quote(name)
}
