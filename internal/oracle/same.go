package oracle

import "github.com/connectorsdk/connector-sdk-go/wire"

// Same reports whether an answered cell of a column of type t agrees with the
// expected one, as leniently as the protocol allows. Numbers agree by their
// digits, whether sent as a number or a string; booleans as the texts true and
// false; dates and datetimes as instants; JSON and arrays by their value, with
// exact numbers and any white space and order of members; undeclared cells by
// digits if both are plain decimal text. All others must agree byte for byte.
// Null agrees only with null.
func Same(want, got wire.Value, t wire.Type) bool {
	return canonical(want, t) == canonical(got, t)
}

// canonical returns what is equal for two cells of a column if and only if
// [Same] calls them the same.
func canonical(v wire.Value, t wire.Type) identity {
	k := keyOf(v, Reading{}.rule(t))
	if !k.null && (t == wire.TypeJSON || t == wire.TypeArray) {
		if n, ok := parseJSON(k.text); ok {
			return identity{'j', string(n.append(nil))}
		}
	}
	return k.identity()
}

// canonicalRow returns a text that is equal for two rows if and only if all
// their cells are the same.
func canonicalRow(row []wire.Value, columns []wire.Column) string {
	var b []byte
	for i, c := range columns {
		b = canonical(cell(row, i), c.Type).appendTo(b)
	}
	return string(b)
}
