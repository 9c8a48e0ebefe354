package restsource

import (
	"errors"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Infer returns a column for each member of the rows in an answer, in their order.
// rows is the member path of the list, as in Table.Rows. Use it in a
// Table.ColumnsOf; a Table.Sample is inferred in the same way:
//
//	true, false                         boolean
//	numbers without a fraction          number
//	numbers with a fraction             decimal
//	numbers with an exponent            number
//	texts that are all dates            date
//	texts that are all dates or times   datetime
//	lists                               array
//	objects, or different kinds         json
//	other texts, or nothing             string
//
// What later rows hold must fit these types: declare the columns that a few rows do
// not show well. In a Table.ColumnsOf, a declared column of the same name and member takes the
// place of the inferred one. Telephone numbers and codes that are texts stay texts.
func Infer(answer []byte, rows string) ([]Column, error) {
	return complete(nil, answer, rows, nil)
}

// complete returns the declared columns with the types that they lack, and columns
// for the members that none of them declares.
func complete(declared []Column, answer []byte, rows string, unwrap func([]byte) ([]byte, error)) ([]Column, error) {
	if unwrap != nil {
		var err error
		if answer, err = unwrap(answer); err != nil {
			return declared, err
		}
	}
	t := &table{Table: Table{Rows: rows}}
	t.compileEnvelope()
	found, err := t.envelope.parse(string(answer), places)
	if err != nil {
		return declared, err
	}
	list := found[atRows]
	if list.Kind != textvalue.Array {
		return declared, errors.New("there is no list of rows in it; check Rows")
	}
	all := slices.Clone(declared)
	var taken []string // the first members of the declared paths
	for _, c := range declared {
		taken = append(taken, c.names()[0])
	}
	err = each(list.Text, func(s *textvalue.Reader) error {
		if s.Peek() != '{' {
			return errors.New("its rows are not objects; change them by Unwrap")
		}
		s.Members(func(name string) {
			s.Value(1)
			if !slices.Contains(taken, name) {
				taken = append(taken, name)
				all = append(all, Column{Name: name, found: true})
			}
		})
		return nil
	})
	if err != nil {
		return declared, err
	}
	return inferTypes(all, list.Text)
}

// names returns the path of the column's value in a row.
func (c *Column) names() []string {
	if c.Path == "" {
		return []string{c.Name}
	}
	return splitPath(c.Path)
}

// inferTypes fills in the types that are missing.
func inferTypes(all []Column, list string) ([]Column, error) {
	paths := make([][]string, len(all))
	for i, c := range all {
		paths[i] = c.names()
	}
	row := newPicker(paths...)
	seen := make([]textvalue.Class, len(all))
	err := each(list, func(s *textvalue.Reader) error {
		cells := make([]textvalue.Raw, len(all))
		row.pick(s, cells, 1)
		for i, r := range cells {
			class, _ := textvalue.APIs.Classify(r)
			seen[i] |= class
		}
		return nil
	})
	for i := range all {
		if all[i].Type == "" && all[i].OfParent == "" && !all[i].Position {
			// A mixture is JSON, because an answer tells the text "1" from the number 1.
			all[i].Type = seen[i].Type(wire.TypeJSON)
		}
	}
	return all, err
}
