package situation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Discovered compares the sections tables and warnings with a discovery, and reports whether there are any.
func (s *Situation) Discovered(t testing.TB, engine string, discover func() *wire.Discovery) bool {
	t.Helper()
	tables, warnings := s.For(engine, "tables"), s.For(engine, "warnings")
	if tables == nil && warnings == nil {
		return false
	}
	found := discover()
	slices.SortFunc(found.Tables, func(a, b wire.Table) int { return strings.Compare(a.Name, b.Name) })
	for _, own := range tables {
		var b strings.Builder
		for i := range found.Tables {
			b.WriteString(described(&found.Tables[i]))
		}
		s.Expect(t, own, b.String())
	}
	got := strings.Join(append(found.Warnings, ""), "\n")
	for _, own := range warnings {
		s.Expect(t, own, got)
	}
	require.True(t, warnings != nil || got == "", "warnings without a section: %s", got)
	return true
}

// described returns what a discovery says of a table, and of each field in a line.
func described(table *wire.Table) string {
	rows, kind := "uncounted", "a view"
	if table.RowCount != nil {
		rows = fmt.Sprint(*table.RowCount)
	}
	if table.StoresRows {
		kind = "stored"
	}
	if !slices.ContainsFunc(table.Fields, func(f wire.Field) bool { return f.Stats != nil }) {
		kind += ", without statistics"
	}
	b := fmt.Sprintf("%s: %s rows, %s\n", shown(table.Name), rows, kind)
	if table.SourceDescription != "" {
		b += fmt.Sprintf("  description %q\n", table.SourceDescription)
	}
	b += keys(table)
	for _, f := range table.Fields {
		b += fmt.Sprintf("  %s %s", shown(f.Name), f.Type)
		for _, also := range []struct {
			text string
			is   bool
		}{
			{" null", f.Nullable}, {" unique", f.Unique}, {" of " + shown(f.SourceColumn), f.SourceColumn != f.Name && f.SourceColumn != ""},
			{fmt.Sprintf(" %q", f.SourceDescription), f.SourceDescription != ""},
		} {
			if also.is {
				b += also.text
			}
		}
		b += "\n"
	}
	return b
}

// shown returns a name, quoted unless it is a plain one.
func shown(name string) string {
	if q := fmt.Sprintf("%q", name); q != `"`+name+`"` || strings.ContainsAny(name, ` ,:>`) || name == "" {
		return q
	}
	return name
}

// keys returns the keys of a table, each in a line.
func keys(table *wire.Table) (b string) {
	if len(table.PrimaryKey) > 0 {
		b += "  key " + strings.Join(table.PrimaryKey, ", ") + "\n"
	}
	for _, k := range table.ForeignKeys {
		b += "  key " + k.Field + " > " + k.TargetTable + "." + k.TargetField + "\n"
	}
	return b
}

// Keys returns the keys of all tables, and the warnings of keys.
func Keys(found *wire.Discovery) (b string) {
	for i := range found.Tables {
		if own := keys(&found.Tables[i]); own != "" { // without statistics, no row is read of a view
			b += found.Tables[i].Name + "\n" + own
		}
	}
	for _, w := range found.Warnings {
		if strings.Contains(w, "key (") {
			b += w + "\n"
		}
	}
	return b
}
