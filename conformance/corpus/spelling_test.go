package corpus

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
	{"documents in ASCII", []wire.Type{wire.TypeJSON, wire.TypeArray}, func(s string) string { return ascii(s) }},
}

// TestCasesHoldInEverySpelling checks that the answers do not depend on how
// cells are spelled, even for a connector that compares instants as text.
func TestCasesHoldInEverySpelling(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	cases, plain := caseList(t), oracleTables()
	for _, spelling := range spellings {
		tables := oracle.Tables{}
		respelled := map[string]bool{} // tables, as a request names them
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
							respelled[`"`+name+`"`] = true
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
			named := func(table string) bool { return strings.Contains(string(c.Request), table) }
			if c.Check[0] == 'A' || !slices.ContainsFunc(slices.Collect(maps.Keys(respelled)), named) {
				continue
			}
			asked++
			judge := judgeOf(t, plain, c.Case.Request)
			for _, reading := range []oracle.Reading{{}, {DatesAsText: true}} {
				if d := judge(reading, tables); d != nil {
					t.Errorf("%s: %s: %v", spelling.why, c.Name, d)
					break
				}
			}
			if r, ok := c.Case.Request.(*wire.LinkHitRateRequest); ok {
				want, got := testkit.Must(oracle.LinkHitRate(plain, r))(t), testkit.Must(oracle.LinkHitRate(tables, r))(t, c.Name)
				require.Equal(t, want.OrphanCount, got.OrphanCount, "%s: %s", spelling.why, c.Name)
				require.Len(t, got.OrphanSamples, len(want.OrphanSamples), "%s: %s", spelling.why, c.Name)
			}
		}
		require.NotZero(t, asked, spelling.why)
	}
}
