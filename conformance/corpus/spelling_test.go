package corpus

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// spellings are legal ways in which a connector may spell cells of a type. Its
// filters may look at the text that it spells.
var spellings = []struct {
	why     string
	types   []wire.Type
	respell func(string) string
}{
	{"an instant in its shortest exact width", []wire.Type{wire.TypeDatetime}, func(s string) string {
		t, _ := time.Parse(time.RFC3339Nano, s)
		return wire.Datetime(t).String()
	}},
	{"an instant without zeros at its end", []wire.Type{wire.TypeDatetime}, func(s string) string {
		t, _ := time.Parse(time.RFC3339Nano, s)
		return t.Format(time.RFC3339Nano)
	}},
	{"decimals of 30 digits, as MySQL has them", []wire.Type{wire.TypeDecimal}, func(s string) string {
		whole, fraction, _ := strings.Cut(s, ".")
		fraction += strings.Repeat("0", 30-len(fraction))
		if strings.Trim(whole+fraction, "-0") == "" {
			whole = "0"
		}
		return whole + "." + fraction
	}},
	{"decimals without a scale", []wire.Type{wire.TypeDecimal}, func(s string) string {
		if strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		if s == "-0" {
			s = "0"
		}
		return s
	}},
	{"documents with blanks", []wire.Type{wire.TypeJSON, wire.TypeArray}, func(s string) string {
		var b strings.Builder
		quoted, escaped := false, false
		for _, r := range s {
			b.WriteRune(r)
			switch {
			case escaped:
				escaped = false
			case r == '\\':
				escaped = true
			case r == '"':
				quoted = !quoted
			case !quoted && (r == ',' || r == ':'):
				b.WriteByte(' ')
			}
		}
		return b.String()
	}},
	{"documents in ASCII", []wire.Type{wire.TypeJSON, wire.TypeArray}, func(s string) string { return ascii(s, nil) }},
}

// TestCasesHoldInEverySpelling checks that the answers do not depend on how
// cells are spelled, even for a connector that compares instants as text.
func TestCasesHoldInEverySpelling(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	cases := caseList(t)
	for _, spelling := range spellings {
		tables := oracle.Tables{}
		respelled := map[string]bool{} // tables
		for name, table := range oracleTables() {
			for i, c := range table.Columns {
				for _, other := range spelling.types {
					if c.Type != other {
						continue
					}
					for _, row := range table.Rows {
						if row[i].IsNull() {
							continue
						}
						text := spelling.respell(row[i].String())
						if text != row[i].String() {
							respelled[name] = true
						}
						row[i] = wire.Text(text)
					}
				}
			}
			tables[name] = table
		}
		require.NotEmpty(t, respelled, spelling.why)
		asked := 0
		for _, c := range cases {
			// What is spelled as ever has been compared by TestCasesAreSettled.
			if c.Check[0] == 'A' || !slices.ContainsFunc(tablesOf(c.Request), func(name string) bool { return respelled[name] }) {
				continue
			}
			asked++
			for _, reading := range []oracle.Reading{{}, {DatesAsText: true}} {
				if d := verify(reading, tables, &c); d != nil {
					t.Errorf("%s: %s: %v", spelling.why, c.Name, d)
					break
				}
			}
			if r, ok := c.Request.(*wire.LinkHitRateRequest); ok {
				got, err := oracle.LinkHitRate(tables, r)
				require.NoError(t, err, c.Name)
				require.Equal(t, c.Answer.LinkHitRate.OrphanCount, got.OrphanCount, "%s: %s", spelling.why, c.Name)
				require.Len(t, got.OrphanSamples, len(c.Answer.LinkHitRate.OrphanSamples), "%s: %s", spelling.why, c.Name)
			}
		}
		require.NotZero(t, asked, spelling.why)
	}
}

// tablesOf returns the tables that a request reads.
func tablesOf(request wire.Request) (names []string) {
	joined := func(table string, joins []wire.JoinHop) {
		names = append(names, table)
		for _, j := range joins {
			names = append(names, j.ToTable)
		}
	}
	switch r := request.(type) {
	case *wire.QueryRequest:
		joined(r.Table, r.Joins)
	case *wire.AggregateRequest:
		joined(r.Table, r.Joins)
	case *wire.CountRequest:
		joined(r.Table, nil)
	case *wire.SizeRequest:
		joined(r.Table, nil)
	case *wire.CardinalityRequest:
		joined(r.Table, nil)
	case *wire.LinkHitRateRequest:
		names = []string{r.FromTable, r.ToTable}
	}
	return names
}
