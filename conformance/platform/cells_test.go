package platform

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// utc is the pattern by which the conformance program judges datetimes.
var utc = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?([Zz]|[+-]00(:?00)?)$`)

// TestIsUTC compares isUTC with the pattern, on datetimes of which some characters are
// others, too many or too few.
func TestIsUTC(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	legal := 0
	for range testrun.Rounds(50_000) {
		forms := []string{"2024-02-29T22:30:00Z", "2024-02-29T22:30:00.125Z",
			"2024-02-29", "2024-02-29t22:30+00:00", "2024-02-29T22:30:00-0000", "2024-02-29T22:30:07,5+00"}
		text := []byte(forms[random.IntN(len(forms))])
		for range random.IntN(3) {
			const alphabet = "0129-:TtZz+., \n"
			at, c := random.IntN(len(text)), alphabet[random.IntN(len(alphabet))]
			switch random.IntN(3) {
			case 0:
				text[at] = c
			case 1:
				text = append(text[:at], text[at+1:]...)
			default:
				text = append(text[:at:at], append([]byte{c}, text[at:]...)...)
			}
		}
		want := utc.Match(text)
		require.Equal(t, want, isUTC(string(text)), "%q", text)
		if want {
			legal++
		}
	}
	require.Greater(t, legal, testrun.Rounds(5_000))
	const usual = "2024-02-29T22:30:59Z"
	for at := range usual {
		for c := range 256 {
			text := []byte(usual)
			text[at] = byte(c)
			require.Equal(t, utc.Match(text), isUTC(string(text)), "%q", text)
		}
	}
	require.False(t, isUTC(""))
}

// TestUnsafeInteger looks at numbers around those that a float holds exactly.
func TestUnsafeInteger(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want bool
		why  string
	}{
		{terms.MaxSafeInteger, false, "the last integer that every float holds"},
		{terms.MaxSafeInteger + 1, true, "2^53 may have been 2^53 + 1"},
		{-terms.MaxSafeInteger - 1, true, "likewise below zero"},
		{1 << 63, true, "an integer of 64 bits"},
		{1 << 64, true, "what an unsigned one is rounded up to"},
		{1<<64 + 4096, false, "a measurement"},
		{1e300, false, "a measurement"},
		{1<<52 + 0.5, false, "no integer"},
	} {
		require.Equal(t, c.want, unsafeInteger(c.f), "%v: %s", c.f, c.why)
	}
}

// TestUsual requires that the kinds which need no second look are those in which no
// cell is misspelled.
func TestUsual(t *testing.T) {
	cells := []wire.Value{wire.Null(), wire.Bool(true), wire.Int(-7), wire.Float(1.5), wire.Float(1 << 60), wire.Text(""), wire.Text("1.50"),
		wire.Text("1e3"), wire.Text("true"), wire.Text("[]"), wire.Text(" [1] "), wire.Text("{}"), wire.Text("[}"), wire.Text("2024-02-29"),
		wire.Text("2024-02-29T00:00:00Z"), wire.Text("2024-02-29T00:00:00+01:00")}
	wrong := map[string]int{}
	for _, column := range []wire.Type{"", wire.TypeString, wire.TypeReference, wire.TypeNumber, wire.TypeDecimal,
		wire.TypeBoolean, wire.TypeDate, wire.TypeDatetime, wire.TypeJSON, wire.TypeArray} {
		for _, v := range cells {
			problem, rule := misspelled(v, column)
			require.Equal(t, problem == "", rule == "")
			if problem != "" {
				wrong[string(column)+" "+rule]++
				require.Zero(t, usual(column)>>v.Kind()&1, "%s: %v", column, v)
			}
		}
	}
	require.Equal(t, map[string]int{"number cell-7": 11, "number cell-1": 1, "decimal cell-1": 13, "boolean cell-7": 13,
		"date cell-7": 4, "datetime cell-2": 14, "json cell-3": 9, "array cell-3": 13}, wrong)
}

// TestTransport requires that no proxy stands between the client and the address that it
// judges.
func TestTransport(t *testing.T) {
	require.Nil(t, transport(false).Proxy)
	require.NotNil(t, transport(true).Proxy)
	require.True(t, transport(false).DisableCompression)
}

// TestClaimsKeepNothing judges a hundred thousand rows by filters, sort and key without an
// allocation for any of them, and tells each key apart.
func TestClaimsKeepNothing(t *testing.T) {
	const rows = 100_000
	table := &wire.Table{PrimaryKey: []string{"id", "code"}, Fields: []wire.Field{{Name: "id"}, {Name: "code"}, {Name: "at"}}}
	columns := []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "code", Type: wire.TypeString}, {Name: "at", Type: wire.TypeDatetime}}
	req := &wire.QueryRequest{Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}}, Where: wire.Where{
		And: []wire.Filter{{Field: "id", Op: wire.OpGte, Value: wire.Int(0)}, {Field: "at", Op: wire.OpLt, Value: wire.Text("2025-01-01")}},
		Or:  [][]wire.Filter{{{Field: "code", Op: wire.OpStartsWith, Value: wire.Text("C")}}}}}
	c := newClaims(req, columns, wire.Served{Filters: true, Sort: true}, table)
	row := []wire.Value{wire.Null(), wire.Text("C-1"), wire.Text("2024-02-29T22:30:00Z")}
	n := int64(0)
	next := func() {
		row[0] = wire.Int(n)
		n++
		if _, problem, _ := c.contradicted(row); problem != "" {
			t.Fatal(n, problem)
		}
	}
	next()
	most := testing.AllocsPerRun(1, func() {
		for range rows {
			next()
		}
	})
	require.Less(t, most, 20.0, "only the set of keys grows, and not for ever")
	require.Zero(t, testing.AllocsPerRun(rows, next))
	require.Len(t, c.keys.slots, maxKeys)
	n -= 1000
	row[0] = wire.Int(n)
	c.sort = nil
	_, problem, _ := c.contradicted(row)
	require.NotEmpty(t, problem, "the last thousands of keys are known")
}
