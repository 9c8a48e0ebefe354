package platform

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// consistent returns what is wrong with the names of a discovery, or nil
// [rule discovery-8]. A foreign key to a table that is not listed is no error, since all
// rows can be read without it: see [danglingKeys].
func consistent(d *wire.Discovery) error {
	lookup := make(map[string]*wire.Table, len(d.Tables))
	fault := func(problem, place string, args ...any) error {
		return &AnswerError{Path: wire.PathDiscovery, Place: fmt.Sprintf(place, args...), Rule: "discovery-8", Problem: problem}
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		switch {
		case t.Name == "":
			return fault("is empty", "tables[%d].name", i)
		case lookup[t.Name] != nil:
			return fault("two tables are called "+terms.QuoteName(t.Name), "tables[%d].name", i)
		}
		lookup[t.Name] = t
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		fields := make(map[string]bool, len(t.Fields))
		for j, f := range t.Fields {
			switch {
			case f.Name == "":
				return fault("is empty", "tables[%d].fields[%d].name", i, j)
			case fields[f.Name]:
				return fault("two fields are called "+terms.QuoteName(f.Name), "tables[%d].fields[%d].name", i, j)
			}
			fields[f.Name] = true
		}
		inKey := make(map[string]bool, len(t.PrimaryKey))
		for j, name := range t.PrimaryKey {
			switch {
			case !fields[name]:
				return fault("is no field of the table", "tables[%d].primaryKey[%d]", i, j)
			case inKey[name]:
				return fault("names a field twice", "tables[%d].primaryKey[%d]", i, j)
			}
			inKey[name] = true
		}
		for j, k := range t.ForeignKeys {
			if !fields[k.Field] {
				return fault("is no field of the table", "tables[%d].foreignKeys[%d].field", i, j)
			}
			if target := lookup[k.TargetTable]; target != nil && target.Field(k.TargetField) == nil {
				return fault("is no field of "+terms.QuoteName(k.TargetTable), "tables[%d].foreignKeys[%d].targetField", i, j)
			}
		}
	}
	return nil
}

// danglingKeys returns a note for each foreign key that leads to a table that the discovery
// does not list [rule discovery-8].
func danglingKeys(d *wire.Discovery) (notes []string) {
	listed := map[string]bool{}
	for i := range d.Tables {
		listed[d.Tables[i].Name] = true
	}
	for _, t := range d.Tables {
		for _, k := range t.ForeignKeys {
			if !listed[k.TargetTable] {
				notes = append(notes, fmt.Sprintf("the foreign key %s of table %s leads to table %s, which discovery does not list",
					terms.QuoteName(k.Field), terms.QuoteName(t.Name), terms.QuoteName(k.TargetTable)))
			}
		}
	}
	return notes
}
