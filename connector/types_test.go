package connector_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTypes checks that a column's own type decides how its values compare,
// declared by Begin or by the description; then the request's fieldTypes.
func TestTypes(t *testing.T) {
	for _, c := range []struct {
		why            string
		begin, table   wire.Type
		fieldTypes     string
		equal, greater bool // is "1.50" equal to "1.5", and "10" greater than "8" and "9"
	}{
		{"undeclared: numbers where both are", "", "", "", true, true},
		{"Begin says text", wire.TypeString, "", "", false, false},
		{"Begin says number", wire.TypeNumber, "", "", true, true},
		{"the description says text", "", wire.TypeString, "", false, false},
		{"Begin before the description", wire.TypeNumber, wire.TypeString, "", true, true},
		{"the request says text", "", "", "string", false, false},
		{"a wrong request overrides no column", wire.TypeNumber, "", "string", true, true},
		{"nor a description", "", wire.TypeString, "number", false, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			src := core{query: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
				w := out.Begin([]wire.Column{{Name: "n", Type: c.begin}})
				for _, n := range []string{"1.50", "9", "10"} {
					_ = w.Row(wire.Text(n))
				}
				return nil
			}}
			var s *site
			if c.table == "" {
				s = serve(t, src, nil)
			} else {
				s = serve(t, struct {
					core
					describer
				}{src, func(context.Context, wire.Credentials, string) (*wire.Table, error) {
					return &wire.Table{Name: "items", Fields: []wire.Field{{Name: "n", Type: c.table}}}, nil
				}}, nil)
			}
			types := ""
			if c.fieldTypes != "" {
				types = `"fieldTypes":{"n":"` + c.fieldTypes + `"},`
			}
			for _, q := range []struct {
				filter, row string
				want        bool
			}{
				{`{"field":"n","op":"eq","value":"1.5"}`, "1.50", c.equal},
				{`{"field":"n","op":"gt","value":"8"}`, "10", c.greater},
			} {
				a := s.post("/query", query(types+`"and":[`+q.filter+`],"sort":[],"fields":["n"]`))
				assert.Equal(t, q.want, strings.Contains(a.body, `{"n":"`+q.row+`"}`), a.body)
			}
			order := `{"rows":[{"n":"10"},{"n":"9"},{"n":"1.50"}]}`
			if !c.greater {
				order = `{"rows":[{"n":"9"},{"n":"10"},{"n":"1.50"}]}`
			}
			a := s.post("/query", query(types+
				`"and":[],"sort":[{"field":"n","dir":"desc"}],"limit":5,"fields":["n"]`))
			assert.Contains(t, a.body, order)
		})
	}
}
