package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/planets"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTurn turns the pages of tables whose rows stand in several orders. Each row comes once.
func TestTurn(t *testing.T) {
	numbers := func(n int) (list []int) {
		for i := range n {
			list = append(list, i)
		}
		return list
	}
	backwards := numbers(120)
	slices.Reverse(backwards)
	for _, c := range []struct {
		name  string
		ids   []int
		keyed bool
		pages []string
		why   string
	}{
		{"in the order of the key", numbers(120), true, []string{"50: 50 to 99", "100: 100 to 119"}, ""},
		{"in another order", backwards, true, []string{"0: 0 to 49", "50: 50 to 99", "100: 100 to 119"},
			"the first page had other rows, so the pages begin anew"},
		{"without a key", backwards, false, []string{"50: 69 to 20", "100: 19 to 0"}, "nothing else can be done"},
		{"exactly one page", numbers(50), true, []string{"50: none"}, "nobody knew before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := memsource.Table{Table: wire.Table{Name: "t", StoresRows: true,
				Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber}, {Name: "none", Type: wire.TypeString, Nullable: true}}}}
			if c.keyed {
				table.PrimaryKey = []string{"id"}
			}
			for _, id := range c.ids {
				table.Rows = append(table.Rows, []wire.Value{wire.Int(int64(id)), wire.Null()})
			}
			client, stop := platform.InProcess(planets.Handler(token, planets.Source(table)))
			defer stop()
			own, err := platform.NewClient("https://t.test", wire.NewBearer(token), &platform.Options{HTTP: client})
			require.NoError(t, err)
			connection, err := platform.Connect(t.Context(), own, wire.Credentials{}, nil)
			require.NoError(t, err)
			reading := &connected{Connection: connection, first: map[int][][]wire.Value{0: slices.Clone(table.Rows[:pageRows])}}
			var pages []string
			for next := int64(pageRows); next >= 0; {
				v, err := reading.turn(t.Context(), 0, next)
				require.NoError(t, err)
				text := fmt.Sprint(v.Offset, ": none")
				if n := len(v.Rows); n > 0 {
					text = fmt.Sprintf("%d: %s to %s", v.Offset, v.Rows[0][0], v.Rows[n-1][0])
					require.Equal(t, []string{"none"}, v.Empty)
					require.Equal(t, []int{0}, v.Fields, "a cell is one of the right field")
				}
				pages = append(pages, text)
				next = v.Next
			}
			require.Equal(t, c.pages, pages, c.why)
		})
	}
}

// TestThousands groups the digits of numbers and decimals alike.
func TestThousands(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1", "999": "999", "1000": "1,000", "-1000.50": "-1,000.50", "1234567.1234567": "1,234,567.1234567",
		"1e20": "1e20", "-0.001": "-0.001", "123456789012345678901234567890": "123,456,789,012,345,678,901,234,567,890",
	} {
		require.Equal(t, want, thousands(in))
	}
}
