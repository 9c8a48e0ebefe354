package standin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// entry is one rule or endpoint of the documents, and where it is tested: a
// rule without a test says what of it is not shown.
type entry struct {
	ID       string
	Text     string
	Standin  []string // tests of this package; an exchange is TestExchanges/file.http#title
	Client   []string // tests of the clients, as package.TestName; of the connector, as workspace.TestName
	NotShown string
}

func readLedger(t *testing.T) map[string][]entry {
	t.Helper()
	ledger := map[string][]entry{}
	require.NoError(t, json.Unmarshal(testkit.Must(os.ReadFile("../ledger.json"))(t), &ledger))
	return ledger
}

// TestLedger requires that every test that the ledger names exists.
func TestLedger(t *testing.T) {
	exchanges := map[string][]string{}
	for file, all := range readExchanges(t) {
		for _, e := range all {
			name := file + "#" + e.title
			assert.NotContains(t, exchanges["TestExchanges"], name, "two exchanges have this title")
			exchanges["TestExchanges"] = append(exchanges["TestExchanges"], name)
		}
	}
	own := testSources(t, ".")
	for document, entries := range readLedger(t) {
		seen := map[string]bool{}
		for _, e := range entries {
			assert.False(t, seen[e.ID], "%s has %s twice", document, e.ID)
			seen[e.ID] = true
			assert.True(t, len(e.Standin)+len(e.Client) > 0 || e.NotShown != "", "%s: %s has neither a test nor a note", document, e.ID)
			for _, name := range e.Standin {
				function, exchange, isExchange := strings.Cut(name, "/")
				assert.Contains(t, own, "\nfunc "+function+"(t *testing.T)", e.ID)
				assert.True(t, !isExchange || slices.Contains(exchanges[function], exchange), "%s: there is no exchange %s", e.ID, exchange)
			}
			for _, name := range e.Client {
				pkg, function, _ := strings.Cut(name, ".")
				function, _, _ = strings.Cut(function, "/")
				dir := filepath.Join("..", strings.TrimPrefix(pkg, "workspace"))
				assert.Contains(t, testSources(t, dir), "\nfunc "+function+"(t *testing.T)", e.ID)
			}
		}
	}
}

// testSources returns the text of a directory's test files.
func testSources(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	for _, file := range testkit.Must(filepath.Glob(filepath.Join(dir, "*_test.go")))(t) {
		all.Write(testkit.Must(os.ReadFile(file))(t))
	}
	return all.String()
}

// TestEndpointsAreInTheLedger requires that the ledger and the table have the
// same rows, for all paths that the documents list.
func TestEndpointsAreInTheLedger(t *testing.T) {
	service := New(Options{})
	defer service.Close()
	table := []string{}
	for _, e := range service.Endpoints() {
		for _, prefix := range []string{"/v1/", "/api/v2/", "/api/v3/workflows/"} {
			if strings.HasPrefix(e.Path, prefix) {
				table = append(table, e.Method+" "+e.Path+": "+e.Purpose)
			}
		}
	}
	listed := []string{}
	for _, entries := range readLedger(t) {
		for _, e := range entries {
			if method, _, isRow := strings.Cut(e.ID, " /"); isRow && method == strings.ToUpper(method) {
				listed = append(listed, e.ID+": "+strings.TrimPrefix(e.Text, "{resume_url}: "))
			}
		}
	}
	assert.ElementsMatch(t, table, listed)
	assert.Len(t, table, 51+20+7, "the rows of the documents")
}
