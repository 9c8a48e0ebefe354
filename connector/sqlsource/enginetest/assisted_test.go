package enginetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
)

// assisted is a flavor whose columns all say that an index serves them, by the
// expressions that they are compared and sorted by anyway.
type assisted struct{ sqlsource.Flavor }

// assistedFlavor returns a flavor that means the same as f and leaves out nothing that
// sqlsource.Column says of an index, so that requests over small tables go the ways
// that are meant for large ones.
func assistedFlavor(f sqlsource.Flavor) sqlsource.Flavor {
	if joiner, ok := f.(sqlsource.OrderedJoiner); ok {
		return assistedJoiner{assisted{f}, joiner}
	}
	return assisted{f}
}

// assistedJoiner keeps the way in which a flavor's engine joins.
type assistedJoiner struct {
	assisted
	sqlsource.OrderedJoiner
}

func (a assisted) Catalog(
	ctx context.Context, q sqlsource.Queryer, schema string, names []string,
) ([]sqlsource.Table, []string, error) {
	tables, warnings, err := a.Flavor.Catalog(ctx, q, schema, names)
	for _, t := range tables {
		for i := range t.Columns {
			t.Columns[i].Indexed = true
		}
	}
	return tables, warnings, err
}

func (a assisted) Column(ref string, c sqlsource.CatalogColumn) sqlsource.Column {
	column := a.Flavor.Column(ref, c)
	if column.Key == "" || column.Class == sqlsource.ClassOpaque {
		return column
	}
	var unsorted []string
	for _, condition := range []string{column.Guard, column.Odd, column.Long} {
		if condition != "" {
			unsorted = append(unsorted, condition)
		}
	}
	if column.Near == nil && column.Guard == "" && column.Bind != nil {
		raw, as := column.Raw, column.Bind
		column.Near = func(sign string, arg any, bind func(any) string) string {
			return raw + " " + sign + " " + as(bind(arg))
		}
	}
	if column.Sorted == "" {
		column.Sorted, column.Within, column.Unsorted = column.Key, column.Key+" IS NOT NULL", strings.Join(unsorted, " OR ")
	}
	if column.PlainKind == "" && column.Guard == "" {
		column.Plain, column.PlainKind = column.Key, fmt.Sprint(column.Class, column.Type, column.Precision, column.Scale)
	}
	return column
}
