package advice

import (
	"regexp"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
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
	if run.Cases == 0 {
		return check.Skip(check.NoData, "no table of the corpus with a decimal column")
	}
	return nil
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
		if !ok || row[column].IsNull() || text == row[column].String() || !wire.IsDecimal(text) {
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

func timeSpelling(run *session.Run) *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	for _, t := range run.SmallestFirst() {
		for _, field := range t.Fields {
			form, expected := dateForm, "YYYY-MM-DD"
			switch field.Type {
			case wire.TypeDate:
			case wire.TypeDatetime:
				form, expected = datetimeForm, "YYYY-MM-DDThh:mm:ssZ, with or without a fraction"
			default:
				continue
			}
			rows, f := run.Table(t)
			if f != nil {
				return f
			}
			if rows == nil {
				continue
			}
			column := rows.Index(field.Name)
			for _, row := range rows.Rows {
				if row[column].IsNull() {
					continue
				}
				run.Cases++
				if text := row[column].String(); !form.MatchString(text) {
					return check.Differs(expected, message.Excerpt([]byte(text), 60),
						"%s.%s, of type %s", wire.QuoteName(t.Name), wire.QuoteName(field.Name), field.Type)
				}
			}
		}
	}
	if run.Cases == 0 {
		return check.Skip(check.NoData, "no table with a date or a datetime")
	}
	return nil
}
