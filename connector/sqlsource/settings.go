package sqlsource

import (
	"cmp"
	"context"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// settings are a source's options, and what is looked up in them. sqlsource.Options
// explains them.
type settings struct {
	schemas       func(wire.Credentials) []string
	only          []string
	tables        map[string]tableSettings
	catalogTTL    time.Duration
	estimateSizes bool
	profile       time.Duration
	observe       func(context.Context, report)

	served  map[string]bool   // only
	renamed map[string]string // the names in the database of the tables that have another in the protocol
}

// tableSettings override what the catalog says of a table.
type tableSettings struct {
	Name        string
	Description string
	Hidden      bool
	PrimaryKey  []string
	Columns     map[string]columnSettings
}

// columnSettings override what the catalog says of a column.
type columnSettings struct {
	Name        string
	Description string
	Type        wire.Type
	Hidden      bool
}

// index makes the maps of names, because a discovery looks thousands of them up.
func (o *settings) index() {
	o.served, o.renamed = map[string]bool{}, map[string]string{}
	for _, name := range o.only {
		o.served[name] = true
	}
	for own, t := range o.tables {
		if t.Name != "" {
			o.renamed[t.Name] = own
		}
	}
}

// inDatabase returns the name that a table of the protocol has in the database,
// and reports whether the table is served. One without a name is not.
func (o *settings) inDatabase(public string) (name string, served bool) {
	if public == "" {
		return "", false
	}
	if own, renamed := o.renamed[public]; renamed {
		return own, o.serves(own)
	}
	if renamed := o.tables[public].Name; renamed != "" && renamed != public {
		return "", false // it is served under another name
	}
	return public, o.serves(public)
}

// serves reports whether a table of the database is served.
func (o *settings) serves(name string) bool {
	return !o.tables[name].Hidden && (o.only == nil || o.served[name])
}

// publicTable returns the protocol's name of a table of the database.
func (o *settings) publicTable(name string) string { return cmp.Or(o.tables[name].Name, name) }

// publicColumn returns the protocol's name of a column of the database, and
// reports whether the column is served.
func (o *settings) publicColumn(table, column string) (public string, served bool) {
	c := o.tables[table].Columns[column]
	return cmp.Or(c.Name, column), !c.Hidden
}
