package session

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// nameless returns why a name cannot stand in an answer, in the words of a warning;
// empty: it can. own is the name in the database, public that in the protocol.
func nameless(own, public string) string {
	switch {
	case !utf8.ValidString(own):
		return "its name is not valid UTF-8: rename it in the database"
	case public == "":
		return "its name is empty: name it in the options of this connector"
	}
	return ""
}

// dropNameless drops what no answer can name: the columns whose names cannot be
// sent, the foreign keys that have such a column, and comments that are not UTF-8. It
// returns a warning for each column and comment. Other keys with such a column are
// not declared either, as with every column that is not there.
func (o *Settings) dropNameless(t *Table) (warnings []string) {
	warn := func(format string, args ...any) {
		warnings = append(warnings, fmt.Sprintf("In table %s, "+format, append([]any{terms.QuoteName(o.PublicTable(t.Name))}, args...)...))
	}
	readable := func(comment *string, of string) {
		if !utf8.ValidString(*comment) {
			*comment = ""
			warn("the description of %s is left out because it is not valid UTF-8.", of)
		}
	}
	readable(&t.Comment, "the table")
	var dropped []string
	t.Columns = slices.DeleteFunc(t.Columns, func(c sqlengine.CatalogColumn) bool {
		public, served := o.PublicColumn(t.Name, c.Name)
		why := nameless(c.Name, public)
		if why != "" {
			dropped = append(dropped, c.Name)
			if served {
				warn("the field %s is left out, with the keys that have it, because %s.", terms.QuoteName(c.Name), why)
			}
		} else if !served && !o.Tables[t.Name].Columns[c.Name].Hidden {
			warn("the field %s is left out, with the keys that have it, because the options of this connector give its name to another field.",
				terms.QuoteName(c.Name))
		}
		return why != ""
	})
	for i := range t.Columns {
		readable(&t.Columns[i].Comment, "the field "+terms.QuoteName(t.Columns[i].Name))
	}
	has := func(key []string) bool {
		return slices.ContainsFunc(key, func(column string) bool { return slices.Contains(dropped, column) })
	}
	t.Foreign = slices.DeleteFunc(t.Foreign, func(k sqlengine.Key) bool { return has(k.Columns) })
	t.Omitted = slices.DeleteFunc(t.Omitted, func(k sqlengine.Key) bool { return has(k.Columns) })
	return warnings
}

// warnedNames is how many tables a warning names.
const warnedNames = 10

// TableNames returns names as a warning lists them: the first, and how many others.
func TableNames(names []string) string {
	if len(names) <= warnedNames {
		return QuotedNames(names)
	}
	return fmt.Sprintf("%s and %d more", QuotedNames(names[:warnedNames]), len(names)-warnedNames)
}

// QuotedNames returns names as a warning lists them.
func QuotedNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = terms.QuoteName(name)
	}
	return strings.Join(quoted, ", ")
}
