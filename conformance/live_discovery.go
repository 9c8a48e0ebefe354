package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// discoveryHolds is L10: the rows are what discovery says. Null in a column that
// is a key or part of one is L5.
func discoveryHolds(l *law) {
	for _, t := range l.subjects() {
		inKey := func(name string) bool {
			return slices.ContainsFunc(keys(t), func(k declaredKey) bool { return slices.Contains(k.fields, name) })
		}
		_, whole := l.data(t)
		reading := l.reading(t, whole)
		for i, f := range t.Fields {
			l.steady(func() {
				data, _ := l.data(t)
				if len(data.Rows) == 0 {
					return
				}
				l.cases++
				l.last = reading
				l.column(t, data, i, f.Nullable || inKey(f.Name))
			}, t)
		}
	}
}

func (l *law) column(t *wire.Table, data *oracle.Table, i int, nulls bool) {
	f := &t.Fields[i]
	where := fmt.Sprintf("table %s, column %s", wire.QuoteName(t.Name), wire.QuoteName(f.Name))
	for at, row := range data.Rows {
		v := row[i]
		if v.IsNull() {
			if !nulls {
				l.want("a value in every row, since nullable is false", "null", "%s: row %d is null", where, at)
			}
			continue
		}
		if want := misspelled(v, f.Type); want != "" {
			cell, err := v.AppendJSON(nil)
			if err != nil {
				cell = []byte(v.String())
			}
			l.want(want, excerpt(cell, 100), "%s: row %d holds what no value of type %s is spelled like", where, at, f.Type)
		}
	}
}

// utc is ISO 8601 with a time of day, in UTC: with Z, an offset of zero, or, as
// no sentence forbids, none.
var utc = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}([Tt]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?([Zz]|[+-]00(:?00)?)?)?$`)

// misspelled says how a value of a type is spelled when a cell is not: in the
// protocol's words (Row values), and no stricter. Text columns may hold
// anything, since sources have columns of mixed kinds; whether a day is
// YYYY-MM-DD is for advice.
func misspelled(v wire.Value, t wire.Type) (want string) {
	kind := v.Kind()
	switch t {
	case wire.TypeNumber:
		switch {
		case kind == wire.KindBool || kind == wire.KindText && !wire.IsDecimal(v.Text()):
			return "a number, or its digits as a string"
		case kind == wire.KindFloat && beyondSafe(v.Float64()):
			return "an integer beyond 2^53 as a string of its digits"
		}
	case wire.TypeDecimal:
		if kind == wire.KindBool || kind == wire.KindFloat || kind == wire.KindText && !wire.IsDecimal(v.Text()) {
			return "a decimal as a string of its digits"
		}
	case wire.TypeBoolean:
		if text := v.String(); text != "true" && text != "false" {
			return "true or false"
		}
	case wire.TypeDate:
		if kind != wire.KindText {
			return "a date as a string"
		}
	case wire.TypeDatetime:
		if kind != wire.KindText || !utc.MatchString(v.Text()) {
			return "a datetime as a string, ISO 8601 in UTC, such as 2024-02-29T22:30:00Z"
		}
	case wire.TypeJSON:
		if kind != wire.KindText || !json.Valid([]byte(v.Text())) {
			return "JSON text inside a string"
		}
	case wire.TypeArray:
		if text := strings.TrimLeft(v.Text(), " \t\r\n"); kind != wire.KindText || !strings.HasPrefix(text, "[") || !json.Valid([]byte(text)) {
			return "JSON text of an array inside a string"
		}
	}
	return ""
}

// beyondSafe tells an integer beyond 2^53 that crossed as a number, and so may
// have lost digits. Beyond 2^64 it is a measurement rather than an integer.
func beyondSafe(f float64) bool {
	return math.Abs(f) > wire.MaxSafeInteger && math.Abs(f) <= 1<<64 && f == math.Trunc(f)
}
