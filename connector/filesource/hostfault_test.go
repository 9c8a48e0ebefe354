package filesource

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestFaultsOfTheHost breaks the host's folder in each way and place while a tenant asks.
// No answer takes such a fault for a wrong password, for a folder without the table or
// for a table without its sidecar: nothing of this is known.
func TestFaultsOfTheHost(t *testing.T) {
	const query = `"table":"t","and":[],"sort":[],"fields":[]`
	files := mapFS(map[string]string{
		"acme/.password": "secret-horse", "acme/t.csv": "a;b\n1;1\n", "acme/t.table.json": `{"primaryKey":["a"],` +
			`"foreignKeys":[{"field":"a","targetTable":"u","targetField":"k"}]}`, "acme/u.csv": "k\n1\n",
	})
	for _, c := range testkit.Table(t, "testdata/hostfaults.tsv", 4) {
		broken, file, routes := c[0], c[1], c[2]
		for _, kind := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EIO, syscall.ENOMEM, io.ErrUnexpectedEOF,
			errors.New("of a kind of its own")} {
			t.Run(fmt.Sprintf("%s %s %v", broken, file, kind), func(t *testing.T) {
				var fault error
				var logged testkit.Log
				src := newSource(fsRoot(bent{FS: files, before: func(op, name string) error {
					if op != broken || name != file {
						return nil
					}
					return fault
				}}), &Options{Logger: logged.Logger()})
				defer func() { require.NoError(t, src.Close()) }()
				s := connectortest.Start(t, definition, src, connectors.Logging(&logged))
				ask := func(tenant string) (statuses, answers string) {
					for i, path := range []string{wire.PathCheck, wire.PathDiscovery, wire.PathQuery} {
						members := ""
						if path == wire.PathQuery {
							members = query
						}
						status, answer := s.Post(path, body(tenant, "secret-horse", members))
						answers += answer + "\n"
						switch {
						case status == 500, strings.Contains(answer, `"code":"internal"`):
							statuses += "cdq"[i : i+1]
						case tenant == "nobody":
							require.Equal(t, 400, status, answer)
						default:
							require.Equal(t, 200, status, answer)
						}
					}
					return statuses, answers
				}
				fault = kind
				statuses, answers := ask("acme")
				assert.Equal(t, routes, statuses, answers)
				assert.NotContains(t, answers, refusalText)
				assert.Contains(t, logged.String(), "level=ERROR")
				assert.NotContains(t, logged.String(), "secret-horse")
				statuses, _ = ask("nobody")
				if c[3] == "stranger" {
					assert.Equal(t, "cdq", statuses, "a stranger learns nothing that a tenant does not")
				}
				fault = nil
				statuses, _ = ask("acme")
				assert.Empty(t, statuses, "what passed is forgotten")
				d := discovered(t, s, "acme", "secret-horse")
				require.Len(t, d.Tables, 2)
				assert.Equal(t, []string{"a"}, d.Tables[0].PrimaryKey)
				assert.Len(t, d.Tables[0].ForeignKeys, 1)
				fault = kind
				ask("acme")
			})
		}
	}
}

// TestFaultsAreLogged prepares a folder on a disk that fails.
func TestFaultsAreLogged(t *testing.T) {
	var logged testkit.Log
	src := newSource(fsRoot(bent{FS: mapFS(map[string]string{"acme/t.csv": "a\n1\n"}), before: func(op, name string) error {
		if op == "open" && name == "acme/t.csv" {
			return syscall.EMFILE
		}
		return nil
	}}), &Options{Logger: logged.Logger()})
	defer func() { require.NoError(t, src.Close()) }()
	src.Prepare(t.Context())
	assert.Contains(t, logged.String(), `level=ERROR msg="a tenant's folder cannot be read" tenant=acme cause="too many open files"`)
}
