package oracle_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// cellOf returns the cell that testdata/same.tsv has as a kind and a text.
func cellOf(t *testing.T, text string) wire.Value {
	t.Helper()
	kind, text, _ := strings.Cut(text, " ")
	if strings.HasPrefix(text, `"`) {
		text = testkit.Must(strconv.Unquote(text))(t)
	}
	switch kind {
	case "null":
		return null
	case "bool":
		return wire.Bool(text == "true")
	case "int":
		return num(testkit.Must(strconv.ParseInt(text, 10, 64))(t))
	case "float":
		return flt(testkit.Must(strconv.ParseFloat(text, 64))(t))
	case "decimal":
		return dec(text)
	case "date":
		return wire.Date(testkit.Must(time.Parse(time.DateOnly, text))(t))
	case "datetime":
		_, fraction, _ := strings.Cut(strings.TrimSuffix(text, "Z"), ".")
		return wire.DatetimeWidth(testkit.Must(time.Parse(time.RFC3339Nano, text))(t), len(fraction))
	}
	require.Equal(t, "text", kind)
	return txt(text)
}

func TestSame(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/same.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			typ, want, got := wire.Type(strings.TrimPrefix(c[0], "-")), cellOf(t, c[1]), cellOf(t, c[2])
			require.Equal(t, c[3] == "same", oracle.Same(want, got, typ))
			require.Equal(t, c[3] == "same", oracle.Same(got, want, typ), "the other way round")
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
