package live

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// discoveryHolds judges that the rows are what discovery says. A null in a column of a key has a check of its own.
func discoveryHolds(p *liveRun) *check.Finding {
	return p.eachRead(func(t *wire.Table) (parts []func(*oracle.Table) *check.Finding) {
		for i, field := range t.Fields {
			inKey := slices.ContainsFunc(keysOf(t), func(k declaredKey) bool { return slices.Contains(k.fields, field.Name) })
			parts = append(parts, func(data *oracle.Table) *check.Finding {
				return cmp.Or(
					cellsHold(p, t, data, i, field.Nullable || inKey),
					describedInstants(p, t, &t.Fields[i]),
					p.samplesOfColumn(t, data, i),
				)
			})
		}
		return parts
	})
}

func cellsHold(p *liveRun, t *wire.Table, data *oracle.Table, column int, nulls bool) *check.Finding {
	f := &t.Fields[column]
	where := ofTable(t) + ", column " + terms.QuoteName(f.Name)
	for at, row := range data.Rows {
		v := row[column]
		if v.IsNull() {
			if !nulls {
				return check.Differs("a value in every row, since nullable is false", "null", "%s: row %d is null", where, at)
			}
			continue
		}
		if want := misspelled(v, f.Type); want != "" {
			return check.Differs(want, p.Quote(v), "%s: row %d holds no value of type %s", where, at, f.Type)
		}
	}
	return nil
}

// describedInstants judges that what discovery tells of a column of instants is spelled as they are.
func describedInstants(p *liveRun, t *wire.Table, f *wire.Field) *check.Finding {
	if f.Type != wire.TypeDatetime {
		return nil
	}
	for _, v := range declared.Values(f) {
		if want := misspelled(v, f.Type); !v.IsNull() && want != "" {
			return check.Differs(want, p.Quote(v), "%s, column %s: discovery tells of a value that is none of type datetime",
				ofTable(t), terms.QuoteName(f.Name))
		}
	}
	return nil
}

// samplesOfColumn judges that the samples of a column are not those of another one. Samples that no column holds may be
// masked, which is a matter of advice, and so may be one alone.
func (p *liveRun) samplesOfColumn(t *wire.Table, data *oracle.Table, column int) *check.Finding {
	f := &t.Fields[column]
	if len(f.Samples) < 2 {
		return nil
	}
	own := valuesOf(data, column)
	if slices.ContainsFunc(f.Samples, func(v wire.Value) bool { return own[v.String()] }) {
		return nil
	}
	for _, other := range p.discovery.Readable() {
		rows := p.Snapshot(other).Table
		if rows == nil {
			continue
		}
		for i := range other.Fields {
			of := valuesOf(rows, i)
			if !slices.ContainsFunc(f.Samples, func(v wire.Value) bool { return !of[v.String()] }) {
				return check.Differs("values of the column", p.Quote(f.Samples[0]),
					"%s, column %s: the samples are values of column %s of %s",
					ofTable(t), terms.QuoteName(f.Name), terms.QuoteName(other.Fields[i].Name), ofTable(other))
			}
		}
	}
	return nil
}

// utc matches ISO 8601 in UTC: with Z or with an offset of zero. Without a zone, or without a time of day, a
// datetime is no instant.
var utc = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?([Zz]|[+-]00(:?00)?)$`)

// misspelled returns how a value of a type is spelled, if a cell is not, or "". It is
// no stricter than the protocol: text columns may hold anything, because sources
// have columns of mixed kinds, and whether a day is YYYY-MM-DD is for advice.
func misspelled(v wire.Value, t wire.Type) (want string) {
	kind := v.Kind()
	switch t {
	case wire.TypeNumber:
		switch {
		case kind == wire.KindBool || kind == wire.KindText && !terms.IsDecimal(v.Text()):
			return "a number, or its digits as a string"
		case kind == wire.KindFloat && unsafeInteger(v.Float64()):
			return "an integer beyond 2^53 as a string of its digits"
		}
	case wire.TypeDecimal:
		if kind == wire.KindBool || kind == wire.KindFloat || kind == wire.KindText && !terms.IsDecimal(v.Text()) {
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
		text := strings.TrimLeft(v.Text(), " \t\r\n")
		if kind != wire.KindText || !strings.HasPrefix(text, "[") || !json.Valid([]byte(text)) {
			return "JSON text of an array inside a string"
		}
	}
	return ""
}

// unsafeInteger reports whether a number is an integer beyond 2^53, which may have
// lost digits. Beyond 2^64 it is a measurement rather than an integer.
func unsafeInteger(f float64) bool {
	return math.Abs(f) > terms.MaxSafeInteger && math.Abs(f) <= 1<<64 && f == math.Trunc(f)
}
