package session

import (
	"cmp"
	"context"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// DefaultProfile is the default of Options.Profile.
const DefaultProfile = 10 * time.Second

// Settings are a source's options, and what is looked up in them. sqlsource.Options
// explains them.
type Settings struct {
	Schemas       func(wire.Credentials) []string
	Only          []string
	Tables        map[string]TableSettings
	CatalogTTL    time.Duration
	EstimateSizes bool
	Profile       time.Duration
	Observe       func(context.Context, Report)

	served  map[string]bool   // only
	renamed map[string]string // the names in the database of the tables that have another in the protocol
}

// TableSettings override what the catalog says of a table.
type TableSettings struct {
	Name        string
	Description string
	Hidden      bool
	PrimaryKey  []string
	Columns     map[string]ColumnSettings

	renamed map[string]string // the names in the database of the columns that have another in the protocol
}

// ColumnSettings override what the catalog says of a column.
type ColumnSettings struct {
	Name        string
	Description string
	Type        wire.Type
	Hidden      bool
}

// index fills the maps of names, because a discovery looks up thousands of them.
func (o *Settings) index() {
	o.served, o.renamed = map[string]bool{}, map[string]string{}
	for _, name := range o.Only {
		o.served[name] = true
	}
	for own, t := range o.Tables {
		if t.Name != "" && o.chosen(own) {
			o.renamed[t.Name] = own
		}
		t.renamed = map[string]string{}
		for column, c := range t.Columns {
			if c.Name != "" && !c.Hidden {
				t.renamed[c.Name] = column
			}
		}
		o.Tables[own] = t
	}
}

// InDatabase returns the name that a table of the protocol has in the database,
// and reports whether the table is served. One without a name is not.
func (o *Settings) InDatabase(public string) (name string, served bool) {
	if public == "" {
		return "", false
	}
	if own, renamed := o.renamed[public]; renamed {
		return own, o.Serves(own)
	}
	if renamed := o.Tables[public].Name; renamed != "" && renamed != public {
		return "", false // it is served under another name
	}
	return public, o.Serves(public)
}

// Serves reports whether a table of the database is served.
func (o *Settings) Serves(name string) bool {
	return o.chosen(name) && !o.replaced(name)
}

// chosen reports whether the options want a table to be served.
func (o *Settings) chosen(name string) bool {
	return !o.Tables[name].Hidden && (o.Only == nil || o.served[name])
}

// replaced reports whether another table is served under the name of a table of the database.
func (o *Settings) replaced(name string) bool {
	own, renamed := o.renamed[o.PublicTable(name)]
	return renamed && own != name
}

// PublicTable returns the protocol's name of a table of the database.
func (o *Settings) PublicTable(name string) string { return cmp.Or(o.Tables[name].Name, name) }

// PublicColumn returns the protocol's name of a column of the database, and
// reports whether the column is served. One is not if another is served under its name.
func (o *Settings) PublicColumn(table, column string) (public string, served bool) {
	t := o.Tables[table]
	c := t.Columns[column]
	public = cmp.Or(c.Name, column)
	own, renamed := t.renamed[public]
	return public, !c.Hidden && (!renamed || own == column)
}
