package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
)

// TestDifferential asks each engine and memory the same, and PostgreSQL also by package pgxrows.
func TestDifferential(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) { sqlsourcetest.Run(t, e.kit(t), situation.Questions(0)) })
	t.Run("pgxrows", func(t *testing.T) {
		t.Parallel()
		kit := postgres.kit(t)
		kit.Flavor = pgxrows.PostgreSQL()
		sqlsourcetest.Run(t, kit, situation.Questions(0))
	})
}

// TestDifferentialAssisted asks the same of columns that all say that an index
// serves them.
func TestDifferentialAssisted(t *testing.T) {
	skipShort(t)
	onEach(t, func(t *testing.T, e *engine) {
		kit := e.kit(t)
		kit.Flavor = assisted(kit.Flavor)
		sqlsourcetest.Run(t, kit, situation.Questions(0))
	})
}

// TestRequiredAlone asks of a flavor that has nothing but what is required: the library does the rest.
func TestRequiredAlone(t *testing.T) {
	skipShort(t)
	kit := sqlite.kit(t)
	f := kit.Flavor
	kit.Flavor = sqlengine.Flavor{
		Quote: f.Quote, Param: f.Param, Table: f.Table, Catalog: f.Catalog, Column: f.Column, Window: f.Window,
	}
	sqlsourcetest.Run(t, kit, &sqlsourcetest.Options{Queries: 400})
}

// TestWithout leaves out all that can be left out, so that an engine fits that has no
// keys and no indexes.
func TestWithout(t *testing.T) {
	skipShort(t)
	kit := sqlite.kit(t)
	sqlsourcetest.Run(t, kit, &sqlsourcetest.Options{Queries: 200, Without: []string{
		"keys", "indexes", "cardinality", "pages", "changing pages", "large joins", "joins", "links", "aggregates",
	}})
	var indexed int
	require.NoError(t, kit.DB.QueryRow("SELECT COUNT(*) FROM pragma_index_list('values')").Scan(&indexed))
	require.Zero(t, indexed)
}

// TestHostile sends hostile texts in every place of a request.
func TestHostile(t *testing.T) {
	skipShort(t)
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: db.flavor, DB: db.DB, Key: e.key}, db.driver)
	})
}

// TestPlanted proves that the differential test finds every bug that the command plant has planted, on each engine.
func TestPlanted(t *testing.T) {
	bugs := situation.Bugs(t)
	for _, e := range engines { // one after the other
		t.Run(e.name, func(t *testing.T) { situation.Planted(t, e.kit(t), bugs) })
	}
}

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
	return withColumn(withCatalog(f, indexed), func(_ string, _ sqlengine.CatalogColumn, column *sqlengine.Column) {
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
	})
}
