package enginetest

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// schemaNames are the schemas of a database for testdata/schemas.txtar, which says what they have. One
// and two differ in more than a suffix.
type schemaNames struct {
	one, two string
	across   bool   // orders.person references one.people
	dotted   string // empty: the engine has no names with dots
}

// TestSchemas checks what is served of a database with several schemas, and under which names.
func TestSchemas(t *testing.T) {
	cases := situation.Open(t, "testdata/schemas.txtar").Sections
	onEach(t, func(t *testing.T, e *engine) {
		db, names := e.schemas(t)
		to := strings.NewReplacer("{one}", names.one, "{two}", names.two, "{dotted}", names.dotted)
		from := strings.NewReplacer(cmp.Or(names.dotted, "{dotted}"), "{dotted}", names.one, "{one}", names.two, "{two}",
			"[redacted]", "{one}") // MySQL's is a credential
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) {
				if names.dotted == "" && strings.Contains(c.Text, "{dotted}") {
					t.Skip("no names with dots here")
				}
				said, want, _ := strings.Cut(c.Text, "\n")
				var own struct {
					options
					Schema, Script string
				}
				situation.Decode(t, to.Replace(said), &own)
				db.execute(t, own.Script)
				tenant := map[string]string{"schema": own.Schema}
				maps.Copy(tenant, db.credentials)
				caller := connectortest.Start(t, db.definition("schema"), db.source(t, own.source()), nil).As(tenant).Unverified()
				got := situation.Blocks(to.Replace(want), func(r situation.Request) string {
					if r.Route != "discovery" {
						return (&situation.Asking{Tenant: caller}).Answer(t, r)
					}
					// The tables with their foreign keys, and the warnings, sorted by their names in the file.
					found := testkit.Must(caller.Discover())(t)
					var tables []string
					for _, table := range found.Tables {
						line := table.Name
						for _, k := range table.ForeignKeys {
							line += " > " + k.TargetTable + "." + k.TargetField
						}
						tables = append(tables, from.Replace(line))
					}
					slices.Sort(tables)
					return strings.Join(slices.Concat(tables, found.Warnings, []string{""}), "\n")
				})
				if !names.across { // no key leads anywhere
					want = regexp.MustCompile(` > .*|(?m:^In table .*\n)`).ReplaceAllString(want, "")
				}
				want = strings.ReplaceAll(want, "{"+e.name+"} ", "")
				want = regexp.MustCompile(`(?m)^\{\w+\} .*\n`).ReplaceAllString(want, "") // other engines'
				assert.Equal(t, want, from.Replace(got))
			})
		}
	})
}
