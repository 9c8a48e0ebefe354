package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestSpellings(t *testing.T) {
	for _, test := range []struct {
		kind  wire.Type
		json  string // as it comes off the wire
		legal bool
		why   string
	}{
		{wire.TypeNumber, `5`, true, "an integer within 2^53"},
		{wire.TypeNumber, `1.5e-7`, true, "a double"},
		{wire.TypeNumber, `"9007199254740993"`, true, "beyond 2^53 as digits"},
		{wire.TypeNumber, `9007199254740993`, false, "beyond 2^53 as a number"},
		{wire.TypeNumber, `-9223372036854775808`, false, "the least 64-bit integer as a number"},
		{wire.TypeNumber, `1e300`, true, "a measurement, no integer"},
		{wire.TypeNumber, `"n/a"`, false, "no digits"},
		{wire.TypeNumber, `true`, false, "a boolean"},
		{wire.TypeDecimal, `"10.250"`, true, "digits"},
		{wire.TypeDecimal, `10`, true, "an integer, which loses nothing"},
		{wire.TypeDecimal, `10.25`, false, "a double"},
		{wire.TypeDecimal, `"1e3"`, false, "an exponent"},
		{wire.TypeBoolean, `true`, true, "a boolean"},
		{wire.TypeBoolean, `"false"`, true, "its text"},
		{wire.TypeBoolean, `1`, false, "true is not 1"},
		{wire.TypeDate, `"2024-02-29"`, true, "a day"},
		{wire.TypeDate, `"29.02.2024"`, true, "how days are spelled is for advice"},
		{wire.TypeDate, `1709164800`, false, "seconds"},
		{wire.TypeDatetime, `"2024-02-29T22:30:00Z"`, true, "UTC"},
		{wire.TypeDatetime, `"2024-02-29T22:30:00.123456+00:00"`, true, "UTC in another spelling"},
		{wire.TypeDatetime, `"2024-02-29T22:30Z"`, true, "seconds may be left out"},
		{wire.TypeDatetime, `"2024-02-29T22:30:00"`, false, "without a zone it is no instant"},
		{wire.TypeDatetime, `"2024-02-29"`, false, "nor is a day"},
		{wire.TypeDatetime, `"2024-02-29T22:30:00+01:00"`, false, "another zone"},
		{wire.TypeDatetime, `"2024-02-29 22:30:00"`, false, "a blank is not ISO 8601"},
		{wire.TypeDatetime, `1709245800`, false, "seconds"},
		{wire.TypeJSON, `"{\"a\": 1}"`, true, "JSON text, blanks are free"},
		{wire.TypeJSON, `"17"`, true, "JSON text of a number"},
		{wire.TypeJSON, `17`, false, "not inside a string"},
		{wire.TypeJSON, `"{a:1}"`, false, "not JSON"},
		{wire.TypeArray, `"[1,\"a\"]"`, true, "JSON text of an array"},
		{wire.TypeArray, `"{}"`, false, "no array"},
		{wire.TypeArray, `"{red,blue}"`, false, "an array as a database prints it"},
		{wire.TypeString, `5`, true, "columns of mixed kinds are declared string"},
		{wire.TypeReference, `5`, true, "a key"},
	} {
		var v wire.Value
		require.NoError(t, v.UnmarshalJSON([]byte(test.json)))
		require.Equal(t, test.legal, misspelled(v, test.kind) == "", "%s %s: %s", test.kind, test.json, test.why)
	}
}
