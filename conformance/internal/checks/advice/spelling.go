package advice

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// decimalScale compares how decimals of the corpus are spelled.
func decimalScale(run *session.Run) *check.Finding {
	d, f := run.Discovery(0)
	if f != nil {
		return f
	}
	for _, want := range corpus.Tables() {
		t := d.Lookup[want.Name]
		if t == nil || len(want.PrimaryKey) != 1 || t.Field(want.PrimaryKey[0]) == nil {
			continue
		}
		for i, field := range want.Fields {
			if field.Type != wire.TypeDecimal || t.Field(field.Name) == nil {
				continue
			}
			got, f := run.Table(t)
			if f != nil {
				return f
			}
			if got == nil {
				continue
			}
			if f := columnScale(&want, i, got); f != nil {
				return f
			}
			run.Cases++
		}
	}
	return run.Judged("no table of the corpus with a decimal column")
}

func columnScale(want *corpus.Table, column int, got *oracle.Table) *check.Finding {
	key, name := want.PrimaryKey[0], want.Fields[column].Name
	spelled := map[string]string{}
	for _, row := range got.Rows {
		spelled[row[got.Index(key)].String()] = row[got.Index(name)].String()
	}
	id := slices.IndexFunc(want.Fields, func(f wire.Field) bool { return f.Name == key })
	for _, row := range want.Rows {
		text, ok := spelled[row[id].String()]
		if !ok || row[column].IsNull() || text == row[column].String() || !terms.IsDecimal(text) {
			continue // another check reports another value
		}
		if order, ok := oracle.Compare(wire.Decimal(text), row[column], wire.TypeDecimal); ok && order == 0 {
			return check.Differs(row[column].String(), text, "table %s, %s = %s: %s has lost its scale", want.Name, key, row[id], name)
		}
	}
	return nil
}

var (
	dateForm     = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	datetimeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
)

// spelling says how cells of a type are best written: good judges one that is not null.
type spelling struct {
	expected string
	good     func(wire.Value) bool
}

func inForm(form *regexp.Regexp) func(wire.Value) bool {
	return func(v wire.Value) bool { return form.MatchString(v.String()) }
}

var (
	timeSpellings = map[wire.Type]spelling{
		wire.TypeDate:     {"YYYY-MM-DD", inForm(dateForm)},
		wire.TypeDatetime: {"YYYY-MM-DDThh:mm:ssZ, with or without a fraction", inForm(datetimeForm)},
	}
	booleanSpellings = map[wire.Type]spelling{
		wire.TypeBoolean: {"true or false, without quotes", func(v wire.Value) bool { return v.Kind() == wire.KindBool }},
	}
	jsonSpellings = map[wire.Type]spelling{
		wire.TypeJSON:  {"JSON text without blanks between its tokens", isCompact},
		wire.TypeArray: {"JSON text without blanks between its tokens", isCompact},
	}
)

// isCompact reports whether a text is JSON without blanks between its tokens. Text
// that is no JSON has a check of its own.
func isCompact(v wire.Value) bool {
	text := []byte(v.String())
	var compact bytes.Buffer
	return json.Compact(&compact, text) != nil || bytes.Equal(compact.Bytes(), text)
}

// cellsSpelled returns a judge of the cells of some types, in every table that can be read.
func cellsSpelled(spellings map[wire.Type]spelling, what string) func(*session.Run) *check.Finding {
	return func(run *session.Run) *check.Finding {
		if _, f := run.Discovery(0); f != nil {
			return f
		}
		for _, t := range run.SmallestFirst() {
			for _, field := range t.Fields {
				s, asked := spellings[field.Type]
				if !asked {
					continue
				}
				rows, f := run.Table(t)
				if f != nil {
					return f
				}
				if rows == nil {
					continue
				}
				if f := columnSpelled(run, rows, field, s); f != nil {
					return f
				}
			}
		}
		return run.Judged("no table with %s", what)
	}
}

func columnSpelled(run *session.Run, t *oracle.Table, field wire.Field, s spelling) *check.Finding {
	column := t.Index(field.Name)
	for _, row := range t.Rows {
		if row[column].IsNull() {
			continue
		}
		run.Cases++
		if !s.good(row[column]) {
			cell, _ := row[column].AppendJSON(nil) // it was read from JSON
			return check.Differs(s.expected, message.Excerpt(cell, 60),
				"%s.%s, of type %s", terms.QuoteName(t.Name), terms.QuoteName(field.Name), field.Type)
		}
	}
	return nil
}
