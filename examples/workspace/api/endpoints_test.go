package api_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestEndpoints compares the table with the rows of the documents.
func TestEndpoints(t *testing.T) {
	text := testkit.Must(os.ReadFile("testdata/endpoints.txt"))(t)
	var want, got []string
	answers := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, answer, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(name, "#") {
			want = append(want, name)
			answers[name] = answer
		}
	}
	for _, e := range api.Endpoints() {
		got = append(got, e.Name())
		switch shown := answers[e.Name()]; {
		case strings.HasPrefix(shown, "204"):
			assert.Equal(t, api.Nothing, e.Answer, e.Name())
		case strings.Contains(shown, "pagination"):
			assert.Equal(t, api.Pages, e.Answer, e.Name())
		case strings.HasPrefix(shown, "`{ data: ["):
			assert.Contains(t, []api.Answer{api.Pages, api.Whole}, e.Answer, e.Name())
		case shown != "":
			assert.Equal(t, api.One, e.Answer, e.Name())
		}
	}
	assert.ElementsMatch(t, want, got)
}

var param = regexp.MustCompile(`\{(\w+)\}`)

// TestLedger: every endpoint that the documents list has a test of the client.
func TestLedger(t *testing.T) {
	text := testkit.Must(os.ReadFile("../ledger.json"))(t)
	var ledger map[string][]struct {
		ID     string
		Client []string
	}
	require.NoError(t, json.Unmarshal(text, &ledger))
	tested := map[string]bool{}
	for _, entries := range ledger {
		for _, e := range entries {
			tested[param.ReplaceAllString(e.ID, ":$1")] = len(e.Client) > 0
		}
	}
	for _, e := range api.Endpoints() {
		if e.Purpose != "not shown" && strings.HasPrefix(e.Path, "/") && e.Path != "/swagger.json" {
			assert.True(t, tested[e.Name()], e.Name())
		}
	}
}

// TestBudgets looks at the endpoints that do not draw on the budget of the plan.
func TestBudgets(t *testing.T) {
	own := map[string]api.Budget{}
	for _, e := range api.Endpoints() {
		if e.Budget != api.PerPlan {
			own[e.Name()] = e.Budget
		}
	}
	assert.Equal(t, map[string]api.Budget{
		"POST /api/v3/contact":                       api.PerContact,
		"POST /api/v3/privacy-requests":              api.PerPrivacy,
		"POST /api/v3/desktop/wake":                  api.PerWake,
		"POST /api/v3/workflows/:workflowId/trigger": api.PerRun,
		"GET /api/v3/workflows/runs/:runId/stream":   api.PerRun,
	}, own)
}

func TestErrorsOfEndpoints(t *testing.T) {
	for _, e := range api.Endpoints() {
		want := []int{400, 401, 403, 429, 500}
		if strings.Contains(e.Path, ":") {
			want = append(want, 404)
		}
		assert.ElementsMatch(t, want, e.Errors(), e.Name())
	}
}
