package testkit

import "github.com/connectorsdk/connector-sdk-go/wire"

// Filter returns a filter. The operators in and nin take any number of values, the others
// one or none.
func Filter(field string, op wire.Op, values ...wire.Value) wire.Filter {
	f := wire.Filter{Field: field, Op: op}
	if op == wire.OpIn || op == wire.OpNin {
		f.Values = values
	} else if len(values) > 0 {
		f.Value = values[0]
	}
	return f
}
