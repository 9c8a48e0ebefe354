package enginetest

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// assisted returns a flavor that means the same as f and leaves out nothing that
// sqlengine.Column says of an index, so that requests over small tables go the ways
// that are meant for large ones: an index serves every column, by the expressions that
// it is compared and sorted by anyway.
func assisted(f sqlengine.Flavor) sqlengine.Flavor {
	indexed := func(t *sqlengine.Table) {
		for i := range t.Columns {
			t.Columns[i].Indexed = true
		}
	}
	return withColumn(withCatalog(f, indexed), assistColumn)
}

func assistColumn(_ string, _ sqlengine.CatalogColumn, column *sqlengine.Column) {
	if column.Key == "" || column.Class == sqlengine.ClassOpaque {
		return
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
}
