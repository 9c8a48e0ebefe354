package oracle_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestSame(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/same.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			typ, want, got := wire.Type(strings.TrimPrefix(c[0], "-")), cells.One(t, c[1]), cells.One(t, c[2])
			require.Equal(t, c[3] == "same", oracle.Same(want, got, typ))
			require.Equal(t, c[3] == "same", oracle.Same(got, want, typ), "the other way round")
		})
	}
}

// What a constructor of wire writes is the same cell when read back.
func TestSameSurvivesTheWire(t *testing.T) {
	for _, v := range values() {
		json := testkit.Must(v.AppendJSON(nil))(t)
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
