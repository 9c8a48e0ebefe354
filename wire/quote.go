package wire

import "strconv"

// mostQuoted is how many characters of a name an error shows.
const mostQuoted = 64

// QuoteName is the name of a table or a field from a request as an error
// message shows it: quoted, and cut to 64 characters, so that no body comes
// back whole. Use it in the errors of a source; values are never shown.
func QuoteName(name string) string {
	n := 0
	for i := range name {
		if n == mostQuoted {
			return strconv.Quote(name[:i]) + "..."
		}
		n++
	}
	return strconv.Quote(name)
}
