package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// elsewhere are the names that an expression may use and the page of this program does
// not show.
var elsewhere = map[string]string{
	"up":              "Prometheus itself makes it of every target",
	"job":             "Prometheus adds it to every target",
	"connector_fault": "nothing fails in this program; see requestAttributes of package otelconnector",
}

var (
	metricName = regexp.MustCompile(`\b(?:http|connector)_[a-z_]+?_(?:count|sum|bucket|total)\b|\bup\b`)
	labelName  = regexp.MustCompile(`[{,]\s*([a-z_]+)\s*(?:=|!=|=~|!~)\s*"|by \(([^)]*)\)`)
)

// checkExpressions requires that each metric and each label of some expressions is on the
// page of metrics.
func checkExpressions(t *testing.T, page string, expressions []string) {
	t.Helper()
	for _, expression := range expressions {
		names := metricName.FindAllString(expression, -1)
		require.NotEmpty(t, names, "no metric in %s", expression)
		for _, name := range names {
			assert.True(t, elsewhere[name] != "" || strings.Contains(page, "\n"+name+"{"), "no metric %s: %s", name, expression)
		}
		for _, found := range labelName.FindAllStringSubmatch(expression, -1) {
			for label := range strings.SplitSeq(found[1]+found[2], ",") {
				label = strings.TrimSpace(label)
				assert.True(t, elsewhere[label] != "" || regexp.MustCompile(`[{,]`+label+`="`).MatchString(page), "no label %q: %s", label, expression)
			}
		}
	}
}

// dashboardExpressions returns what the panels of the dashboard ask Prometheus.
func dashboardExpressions(t *testing.T) (expressions []string) {
	t.Helper()
	text := testkit.Must(os.ReadFile("dashboard.json"))(t)
	var board struct {
		Templating struct {
			List []struct{ Name, Query string }
		}
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &board))
	require.GreaterOrEqual(t, len(board.Panels), 8)
	places := map[any]bool{}
	for i, panel := range board.Panels {
		require.Equal(t, i+1, panel.ID, panel.Title)
		require.False(t, places[panel.GridPos], "%s lies on another panel", panel.Title)
		places[panel.GridPos] = true
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			expressions = append(expressions, target.Expr)
		}
	}
	for _, variable := range board.Templating.List {
		if variable.Name == "slug" {
			expressions = append(expressions, variable.Query)
		}
	}
	return expressions
}

// alertExpressions returns the conditions of the alerts, each of which docs/operating.md
// explains.
func alertExpressions(t *testing.T) (expressions []string) {
	t.Helper()
	text := testkit.Must(os.ReadFile("alerts.yml"))(t)
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	guide := testkit.Must(os.ReadFile("../../docs/operating.md"))(t)
	require.Len(t, file.Groups, 1)
	for _, rule := range file.Groups[0].Rules {
		require.Contains(t, string(guide), "| `"+rule.Alert+"` |")
		require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		require.Contains(t, []string{"page", "ticket"}, rule.Labels["severity"], rule.Alert)
		expressions = append(expressions, rule.Expr)
	}
	require.NotEmpty(t, expressions)
	return expressions
}
