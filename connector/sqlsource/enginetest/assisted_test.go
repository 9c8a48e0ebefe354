package enginetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// assisted is a flavor whose columns all say that an index serves them, by the
// expressions that they are compared and sorted by anyway.
type assisted struct{ sqlengine.Flavor }

// assistedFlavor returns a flavor that means the same as f and leaves out nothing that
// sqlengine.Column says of an index, so that requests over small tables go the ways
// that are meant for large ones.
func assistedFlavor(f sqlengine.Flavor) sqlengine.Flavor {
	return assisted{f}
}

func (a assisted) Catalog(
	ctx context.Context, q sqlengine.Queryer, schema string, names []string,
) ([]*sqlengine.Table, []string, error) {
	tables, warnings, err := a.Flavor.Catalog(ctx, q, schema, names)
	for _, t := range tables {
		for i := range t.Columns {
			t.Columns[i].Indexed = true
		}
	}
	return tables, warnings, err
}

func (a assisted) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	column := a.Flavor.Column(ref, c)
	if column.Key == "" || column.Class == sqlengine.ClassOpaque {
		return column
	}
	var unsorted []string
	for _, condition := range []string{column.Loose.Guard, column.Loose.Long} {
		if condition != "" {
			unsorted = append(unsorted, condition)
		}
	}
	if column.Index.Near == nil && column.Loose.Guard == "" && column.Bind != nil {
		raw, as := column.Raw, column.Bind
		column.Index.Near = func(sign string, arg any, bind func(any) string) string {
			return raw + " " + sign + " " + as(bind(arg))
		}
	}
	if column.Index.Sorted == "" {
		column.Index.Sorted, column.Index.Within, column.Index.Unsorted = column.Key, column.Key+" IS NOT NULL", strings.Join(unsorted, " OR ")
	}
	if column.Index.PlainKind == "" && column.Loose.Guard == "" {
		column.Index.Plain, column.Index.PlainKind = column.Key, fmt.Sprint(column.Class, column.Type, column.Precision, column.Scale)
	}
	return column
}
