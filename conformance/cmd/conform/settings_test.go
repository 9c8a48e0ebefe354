package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// onlyToken is an environment that holds a token and nothing else.
func onlyToken(name string) string { return withToken[name] }

func TestPace(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/pace.tsv", 3) {
		got, err := configure([]string{"-pace", c[1], "http://x.test"}, onlyToken)
		if c[2] == "refused" {
			require.ErrorContains(t, err, "60/min", c[0])
			continue
		}
		require.NoError(t, err, c[0])
		require.Equal(t, testkit.Must(time.ParseDuration(c[2]))(t), got.options.Pace, c[0])
	}
}

// TestCredentialsOfTheEnvironment requires that what the printed curl lines read is read
// by the program too.
func TestCredentialsOfTheEnvironment(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/environment.tsv", 5) {
		args := []string{"http://x.test"}
		if c[3] != "-" {
			args = append([]string{"-credentials", c[3]}, args...)
		}
		env := map[string]string{check.EnvToken: token, "CONNECTOR_CREDENTIALS": c[1], "CONNECTOR_CREDENTIALS_2": c[2]}
		got, err := configure(args, func(name string) string { return strings.TrimPrefix(env[name], "-") })
		if fault, refused := strings.CutPrefix(c[4], "error: "); refused {
			require.ErrorContains(t, err, fault, c[0])
			require.NotContains(t, err.Error(), "secret", c[0])
			continue
		}
		require.NoError(t, err, c[0])
		keys := ""
		for _, set := range got.target.Credentials {
			keys += " " + set.Get("apiKey")
		}
		require.Equal(t, strings.TrimPrefix(c[4], "-"), strings.TrimSpace(keys), c[0])
	}
}

func TestVersion(t *testing.T) {
	got := conform(t, nil, "-version")
	require.Equal(t, check.ExitPass, got.code, got.err)
	require.Regexp(t, `^conform .*, protocol version 1, go1\.`, got.out)

	info := &debug.BuildInfo{
		Main:     debug.Module{Version: "(devel)"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}},
	}
	require.Equal(t, "(devel) 0123456789abcdef", version(info, true))
	info.Main.Version = "v0.0.0-20260101000000-0123456789ab"
	require.Equal(t, info.Main.Version, version(info, true), "a pseudo-version names the commit")
	require.Equal(t, "of an unknown version", version(nil, false))
}

// TestTables grades one table of two, and requires that no row of the other was read.
func TestTables(t *testing.T) {
	table := func(name string, keys ...wire.ForeignKey) memsource.Table {
		m := memsource.Table{Table: wire.Table{
			Name: name, SourceDescription: "Some rows.", PrimaryKey: []string{"id"}, ForeignKeys: keys,
			Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber, Unique: true}, {Name: "other", Type: wire.TypeNumber}},
		}}
		for n := range int64(9) {
			m.Rows = append(m.Rows, []wire.Value{wire.Int(n), wire.Int(n / 2)})
		}
		return m
	}
	link := wire.ForeignKey{Field: "other", TargetTable: "customers", TargetField: "id"}
	h := connectors.New(token, connector.Definition{Slug: "shop"}, connectors.Tables(table("orders", link), table("customers")), nil)
	var mu sync.Mutex
	var asked []string // the bodies that name the other table
	url := behindPort(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body := testkit.Body(r); bytes.Contains(body, []byte(`"customers"`)) {
			mu.Lock()
			asked = append(asked, string(body))
			mu.Unlock()
		}
		h.ServeHTTP(w, r)
	}))

	report := filepath.Join(t.TempDir(), "r.json")
	got := conform(t, withToken, "-mode", "live", "-tables", "orders", "-report", report, url)
	require.Equal(t, check.ExitPass, got.code, got.out)
	require.Empty(t, asked)
	require.Regexp(t, `NO SELECTED CHECK FAILED: .* over the\s+selected\s+tables\s+alone:\s+orders`, got.out)
	var parsed struct {
		Selection struct{ Tables []string }
		Coverage  struct{ Tables []struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal(testkit.Must(os.ReadFile(report))(t), &parsed))
	require.Equal(t, []string{"orders"}, parsed.Selection.Tables)
	require.Len(t, parsed.Coverage.Tables, 1)

	got = conform(t, withToken, "-mode", "live", "-tables", "orders, nothing", url)
	require.Equal(t, check.ExitNotRun, got.code)
	require.Contains(t, strings.Join(strings.Fields(got.out), " "),
		`NOT GRADED: discovery lists no table "nothing"; it lists "customers", "orders"`)
	requests := regexp.MustCompile(`(\d+) requests`).FindStringSubmatch(got.out)
	require.NotNil(t, requests, got.out)
	sent := testkit.Must(strconv.Atoi(requests[1]))(t)
	require.Less(t, sent, 100, "it ends when discovery has answered")

	got = conform(t, withToken, "-tables", "orders", url)
	require.Equal(t, check.ExitNotRun, got.code)
	require.Contains(t, got.err, "tables are selected in mode live; the mode fixture judges all tables of the corpus; add -mode live")
}
