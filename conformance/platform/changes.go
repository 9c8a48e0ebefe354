package platform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Change is one difference between two descriptions of a connector: something new, gone or
// changed.
type Change struct {
	Table string // empty: the document
	Field string // empty: the table itself, or the document
	// What is the property, such as "type", "primary key" or "operator"; empty if it is the
	// table or the field itself that is new or gone.
	What   string
	Before string // empty: new
	After  string // empty: gone
}

// String returns the change in words.
func (c Change) String() string {
	thing := "the document"
	switch {
	case c.Field != "":
		thing = fmt.Sprintf("field %s of table %s", terms.QuoteName(c.Field), terms.QuoteName(c.Table))
	case c.Table != "":
		thing = "table " + terms.QuoteName(c.Table)
	}
	if c.What != "" {
		thing += ": " + c.What
	}
	switch {
	case c.What == "" && c.Before == "":
		return thing + " is new"
	case c.What == "":
		return thing + " is gone"
	case c.Before == "":
		return thing + " " + c.After + " is new"
	case c.After == "":
		return thing + " " + c.Before + " is gone"
	}
	return thing + " was " + c.Before + ", is " + c.After
}

// Refresh reads the document again and discovers the tables again, as the platform does when
// somebody asks for it [rule discovery-2]. It returns another Connection, which is up to
// date; [Connection.Changes] tells the differences. Answers that are being read go on as
// they began, and the two share the limit of concurrent requests unless it has changed.
func (c *Connection) Refresh(ctx context.Context) (*Connection, error) {
	doc, err := c.client.Document(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.client.Discover(ctx, c.credentials)
	if err != nil {
		return nil, err
	}
	return c.renewed(doc, found), nil
}

// renewed returns the connection with another document and other tables.
func (c *Connection) renewed(doc *wire.Document, found *wire.Discovery) *Connection {
	own := *c
	own.sizes = new(exactSizes)
	own.Document, own.Tables, own.Warnings, own.Notes, own.Previews = doc, found.Tables, found.Warnings, danglingKeys(found), nil
	if places := concurrency(doc); places != cap(c.places) {
		own.places = make(chan struct{}, places)
	}
	return &own
}

// Changes returns what is different from an earlier description of the same connector: that
// of a Connection before [Connection.Refresh], or one of which only the document and the
// tables are known. The document's changes come first, then those of the tables in the order
// of discovery, and in the end the tables that are gone. What rows say, such as counts,
// statistics and samples, is no change, nor is a description in words.
func (c *Connection) Changes(before *Connection) []Change {
	d := differences{}
	if before.Document != nil && c.Document != nil {
		d.documents(before.Document, c.Document)
	}
	for i := range c.Tables {
		if t := &c.Tables[i]; before.Table(t.Name) == nil {
			d.add("", "", t.Name)
		} else {
			d.tables(before.Table(t.Name), t)
		}
	}
	for _, t := range before.Tables {
		if c.Table(t.Name) == nil {
			d.table = t.Name
			d.add("", t.Name, "")
		}
	}
	return d.list
}

// differences collects the changes of one table, or of the document.
type differences struct {
	list         []Change
	table, field string
}

// add notes one change. That of a whole table names it.
func (d *differences) add(what, before, after string) {
	change := Change{Table: d.table, Field: d.field, What: what, Before: before, After: after}
	if what == "" && d.field == "" && d.table == "" {
		change.Table = before + after
	}
	d.list = append(d.list, change)
}

// value notes a property that is different.
func (d *differences) value(what string, before, after any) {
	if a, b := fmt.Sprint(before), fmt.Sprint(after); a != b {
		d.add(what, a, b)
	}
}

// each notes the members of lists that are new or gone, whatever their order is.
func (d *differences) each(what string, before, after []string) {
	for _, one := range before {
		if !slices.Contains(after, one) {
			d.add(what, one, "")
		}
	}
	for _, one := range after {
		if !slices.Contains(before, one) {
			d.add(what, "", one)
		}
	}
}

// documents notes what is different in two documents.
func (d *differences) documents(before, after *wire.Document) {
	a, b := before.Capabilities, after.Capabilities
	d.value("slug", before.Slug, after.Slug)
	d.value("dialect", named(before.Dialect), named(after.Dialect))
	d.each("endpoint", texts(before.Endpoints), texts(after.Endpoints))
	d.each("operator", texts(a.Operators), texts(b.Operators))
	d.value("sort", a.Sort, b.Sort)
	d.value("offset", a.Offset, b.Offset)
	d.value("join", a.Join, b.Join)
	d.value("dateBucket", a.DateBucket, b.DateBucket)
	d.value("keysEnforced", a.KeysEnforced, b.KeysEnforced)
	d.value("pageSizeMax", stated(a.Limits.PageSizeMax), stated(b.Limits.PageSizeMax))
	d.value("rowsPerTableMax", stated(a.Limits.RowsPerTableMax), stated(b.Limits.RowsPerTableMax))
	d.value("offsetMax", stated(a.Limits.OffsetMax), stated(b.Limits.OffsetMax))
	d.value("concurrency", stated(int64(a.Limits.Concurrency)), stated(int64(b.Limits.Concurrency)))
	var keys [2][]string
	for i, fields := range [][]wire.CredentialField{before.CredentialSchema, after.CredentialSchema} {
		for _, f := range fields {
			keys[i] = append(keys[i], terms.QuoteName(f.Key))
		}
	}
	d.each("credential", keys[0], keys[1])
}

// tables notes what is different in two tables of one name.
func (d *differences) tables(before, after *wire.Table) {
	d.table = after.Name
	d.value("storesRows", before.StoresRows, after.StoresRows)
	d.value("primary key", names(before.PrimaryKey), names(after.PrimaryKey))
	var keys [2][]string
	for i, t := range []*wire.Table{before, after} {
		for _, k := range t.ForeignKeys {
			keys[i] = append(keys[i], fmt.Sprintf("%s to %s of %s",
				terms.QuoteName(k.Field), terms.QuoteName(k.TargetField), terms.QuoteName(k.TargetTable)))
		}
	}
	d.each("foreign key", keys[0], keys[1])
	for i := range after.Fields {
		f := &after.Fields[i]
		d.field = f.Name
		if old := before.Field(f.Name); old == nil {
			d.add("", "", f.Name)
		} else {
			d.fields(old, f)
		}
	}
	for _, f := range before.Fields {
		if after.Field(f.Name) == nil {
			d.field = f.Name
			d.add("", f.Name, "")
		}
	}
	d.table, d.field = "", ""
}

// fields notes what is different in two fields of one name.
func (d *differences) fields(before, after *wire.Field) {
	d.value("type", before.Type, after.Type)
	d.value("nullable", before.Nullable, after.Nullable)
	d.value("unique", before.Unique, after.Unique)
	d.value("filterable", !isFalse(before.Filterable), !isFalse(after.Filterable))
	d.value("groupable", !isFalse(before.Groupable), !isFalse(after.Groupable))
	d.value("aggregatable", !isFalse(before.Aggregatable), !isFalse(after.Aggregatable))
}

// texts returns the words of a list.
func texts[T ~string](list []T) []string {
	all := make([]string, len(list))
	for i, one := range list {
		all[i] = string(one)
	}
	return all
}

// named returns a name, or words for its absence.
func named(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// stated returns a limit, or words for its absence.
func stated(limit int64) string {
	if limit == 0 {
		return "none"
	}
	return fmt.Sprint(limit)
}

// names returns the names of the fields of a key.
func names(fields []string) string {
	var quoted []string
	for _, name := range fields {
		quoted = append(quoted, terms.QuoteName(name))
	}
	return named(strings.Join(quoted, ", "))
}
