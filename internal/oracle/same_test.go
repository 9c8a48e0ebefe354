package oracle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestSame(t *testing.T) {
	noon := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		why       string
		t         wire.Type
		want, got wire.Value
		same      bool
	}{
		{"null is null", str, null, null, true},
		{"null is not the empty string", str, null, txt(""), false},
		{"null is not the text null", str, null, txt("null"), false},
		{"null is not JSON null", jsonT, null, txt("null"), false},
		{"null is not zero", number, num(0), null, false},
		{"a number as a string", number, num(5), txt("5"), true},
		{"a decimal as a number", decimal, dec("1.5"), flt(1.5), true},
		{"a decimal with its scale lost: advice at most", decimal, dec("10.250"), txt("10.25"), true},
		{"a decimal rounded", decimal, dec("0.1000000000000000001"), flt(0.1), false},
		{"an integer beyond 2^53 as digits", number, num(9007199254740993), txt("9007199254740993"), true},
		{"an integer beyond 2^53 as a double", number, txt("9007199254740993"), flt(9007199254740992), false},
		{"a float as digits", number, flt(1e-7), txt("0.0000001"), true},
		{"a sign lost", number, num(-5), num(5), false},
		{"minus zero", decimal, dec("-0.0"), num(0), true},
		{"an exponent in text is no number", number, num(100), txt("1e2"), false},
		{"text among numbers is itself", number, txt("n/a"), txt("n/a"), true},
		{"and no other text", number, txt("n/a"), txt("N/A"), false},
		{"true as text", boolean, yes, txt("true"), true},
		{"true is not 1", boolean, yes, num(1), false},
		{"true is not TRUE", boolean, yes, txt("TRUE"), false},
		{"false is not null", boolean, no, null, false},
		{"text to the byte", str, txt("a "), txt("a"), false},
		{"no normalisation", str, txt("é"), txt("e\u0301"), false},
		{"control characters", str, txt("a\x00b"), txt("a\x00b"), true},
		{"beyond the basic plane", str, txt("\U0001F600"), txt("\uFFFD"), false},
		{"digits of a string keep their zeros", str, txt("007"), txt("7"), false},
		{"scales of a string too", str, txt("1.50"), flt(1.5), false},
		{"a reference is text", reference, txt("01"), txt("1"), false},
		{"a datetime and its offset", datetime, wire.Datetime(noon), txt("2024-05-01T14:00:00+02:00"), true},
		{"a datetime and its width", datetime, wire.DatetimeWidth(noon, 6), txt("2024-05-01T12:00:00Z"), true},
		{"a datetime without Z: advice at most", datetime, wire.Datetime(noon), txt("2024-05-01T12:00:00"), true},
		{"an hour off", datetime, wire.Datetime(noon), txt("2024-05-01T13:00:00Z"), false},
		{"a millisecond lost", datetime, txt("2024-05-01T12:00:00.001Z"), txt("2024-05-01T12:00:00Z"), false},
		{"a blank for the T is another text", datetime, wire.Datetime(noon), txt("2024-05-01 12:00:00"), false},
		{"a date", date, wire.Date(noon), txt("2024-05-01"), true},
		{"a date as its midnight: advice at most", date, wire.Date(noon), txt("2024-05-01T00:00:00Z"), true},
		{"a date of another zone", date, wire.Date(noon), txt("2024-05-01T00:00:00+02:00"), false},
		{"a datetime in a string column", str, txt("2024-05-01T12:00:00Z"), txt("2024-05-01T12:00:00.000Z"), false},
		{"JSON with blanks", jsonT, txt(`{"a":[1,2]}`), txt(`{ "a" : [1, 2] }`), true},
		{"JSON members in another order", jsonT, txt(`{"a":1,"b":{"c":2,"d":3}}`), txt(`{"b":{"d":3,"c":2},"a":1}`), true},
		{"an array in another order", array, txt(`[1,2]`), txt(`[2,1]`), false},
		{"JSON numbers by value", jsonT, txt(`[1.50,1e2,-0]`), txt(`[1.5,100,0]`), true},
		{"JSON numbers are exact", jsonT, txt(`[9007199254740993]`), txt(`[9007199254740992]`), false},
		{"a JSON number is not its text", jsonT, txt(`[1]`), txt(`["1"]`), false},
		{"JSON strings by their characters", jsonT, txt(`["\u00e9"]`), txt(`["é"]`), true},
		{"JSON true is not the text", jsonT, txt(`[true]`), txt(`["true"]`), false},
		{"a member lost", jsonT, txt(`{"a":1,"b":null}`), txt(`{"a":1}`), false},
		{"the empty array is not the empty object", array, txt(`[]`), txt(`{}`), false},
		{"text that is no JSON is text", jsonT, txt(`{a:1}`), txt(`{a: 1}`), false},
		{"an array literal of a database", array, txt(`["a"]`), txt(`{a}`), false},
		{"a JSON string that looks like two", array, txt(`["a","b"]`), txt(`["a\",\"b"]`), false},
		{"JSON in a string column is text", str, txt(`{"a":1}`), txt(`{"a": 1}`), false},
		{"undeclared numbers by digits", undeclared, dec("1.50"), flt(1.5), true},
		{"undeclared text by bytes", undeclared, txt("1.50a"), txt("1.5a"), false},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			require.Equal(t, c.same, oracle.Same(c.want, c.got, c.t))
			require.Equal(t, c.same, oracle.Same(c.got, c.want, c.t), "the other way round")
		})
	}
}

// What a constructor of wire writes is the same cell when read back.
func TestSameSurvivesTheWire(t *testing.T) {
	for _, v := range values() {
		json, err := v.AppendJSON(nil)
		require.NoError(t, err)
		var read wire.Value
		require.NoError(t, read.UnmarshalJSON(json))
		for _, typ := range allTypes {
			require.True(t, oracle.Same(v, read, typ), "%s as %q", json, typ)
		}
	}
}

// Same is an equivalence relation.
func TestSameIsAnEquivalence(t *testing.T) {
	pool := values()
	for _, typ := range allTypes {
		for _, a := range pool {
			require.True(t, oracle.Same(a, a, typ))
			for _, b := range pool {
				if !oracle.Same(a, b, typ) {
					continue
				}
				require.True(t, oracle.Same(b, a, typ))
				for _, c := range pool {
					if left, right := oracle.Same(a, c, typ), oracle.Same(b, c, typ); left != right {
						require.Equal(t, left, right, "%q %q %q as %q", a, b, c, typ)
					}
				}
			}
		}
	}
}
