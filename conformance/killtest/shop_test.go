package killtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A shopFault is a way in which testdata/foreign/shop.mjs can be wrong, of one of its sets.
type shopFault struct{ Name, Kind, Set string }

func shopFaults(t *testing.T) (faults []shopFault) {
	t.Helper()
	require.NoError(t, json.Unmarshal(testkit.Must(node(t, "shop.mjs", "list").Output())(t), &faults))
	require.Greater(t, len(faults), 59)
	return faults
}

// gradeShop runs the live mode with its defaults over the shop of a seed.
func gradeShop(t *testing.T, seed int, fault string, options conformance.Options) *result {
	t.Helper()
	options.Mode = conformance.ModeLive
	target := conformance.Target{URL: startNode(t, "shop.mjs", fmt.Sprint(seed), fault), Token: wire.NewBearer(testToken)}
	for _, shop := range []string{"north", "south"} {
		set := map[string]string{"shop": shop, "key": shop + "-key-of-this-shop"}
		target.Credentials = append(target.Credentials, wire.NewCredentials(set))
	}
	return testkit.Must(gradeAt(context.Background(), target, &options))(t)
}

// TestShop grades a connector in another language that serves every route, over the tables of each set. It is right, and so
// no check may fail; and each of its faults changes the answer to the request that stands beside it.
func TestShop(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, data := range shopSets {
		t.Run(data, func(t *testing.T) {
			t.Parallel()
			r := gradeShop(t, 1, data, conformance.Options{Match: "^[LM]"})
			require.NoError(t, r.Err())
		})
	}
	require.Empty(t, string(testkit.Must(node(t, "shop.mjs", "probe", "1").Output())(t)))
}

// TestShopTenants requires that the checks of tenants find the ways to mix up tenants and to
// let in who has no right, and fail nothing of a shop that keeps them apart. The whole
// matrix runs all checks with their defaults, so that those of tenants get their share only.
func TestShopTenants(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	var faults []struct {
		Name   string
		Wrong  bool // found only with wrong credentials
		Others bool // found only by the checks of answers: the tenants' rows seem to change
	}
	require.NoError(t, json.Unmarshal(testkit.Must(node(t, "shop.mjs", "tenants").Output())(t), &faults))
	for i, f := range faults {
		if f.Others && !testrun.Whole() {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			options := conformance.Options{WrongCredentials: f.Wrong}
			if !testrun.Whole() {
				options.Match, options.Requests = "^T", 600
			}
			r := gradeShop(t, 1, f.Name, options)
			t.Log(r.Requests, "requests,", r.Duration)
			for _, o := range r.Failures() {
				t.Logf("%s: %s\nexpected %s\nreceived %s", o.ID, o.Detail, o.Expected, o.Received)
			}
			require.Equal(t, i > 0, len(r.Failures()) > 0)
		})
	}
}

const shopFile = "../SHOP.md"

// shopSets are the sets of faults, each by another author, in the order in which they were written. Between them the
// live mode has learned what the one before had shown.
var shopSets = []string{"field", "utility", "municipal", "clinics", "freight", "hotels", "university"}

// tally counts the data sets where a fault changes an answer, and where it is found.
type tally struct{ effect, found int }

// shopTallies returns what the committed table says.
func shopTallies(t *testing.T) map[string]*tally {
	text := testkit.Must(os.ReadFile(shopFile))(t)
	tallies := map[string]*tally{}
	for _, row := range regexp.MustCompile(`(?m)^\| (.+) \| \w+ \| \w+ \| (\d+) \| (\d+) \|$`).FindAllStringSubmatch(string(text), -1) {
		n := &tally{}
		testkit.Must(fmt.Sscan(row[2]+" "+row[3], &n.effect, &n.found))(t)
		tallies[row[1]] = n
	}
	return tallies
}

// TestShopFaults counts how many of the faults the live mode finds with its defaults, over three data sets. The rows
// of the committed table are those of the day when a set was written: no later run may find less. With -update, faults
// without a row get one.
func TestShopFaults(t *testing.T) {
	const seeds = 3
	if !testrun.Whole() {
		t.Skip("takes an hour; set CONFORMANCE_MATRIX=whole")
	}
	faults := shopFaults(t)
	silent := map[string]bool{} // "seed fault" whose probe is answered as by a right connector
	for seed := 1; seed <= seeds; seed++ {
		out := testkit.Must(node(t, "shop.mjs", "probe", fmt.Sprint(seed)).Output())(t)
		for name := range strings.Lines(string(out)) {
			silent[fmt.Sprint(seed, " ", strings.TrimSpace(name))] = true
		}
	}
	var mu sync.Mutex
	first := shopTallies(t)
	for _, set := range shopSets {
		graded := map[string]*tally{}
		t.Run(set, func(t *testing.T) {
			for _, f := range faults {
				if f.Set != set {
					continue
				}
				n := &tally{}
				graded[f.Name] = n
				for seed := 1; seed <= seeds; seed++ {
					if silent[fmt.Sprint(seed, " ", f.Name)] {
						continue
					}
					n.effect++
					t.Run(fmt.Sprint(f.Name, " ", seed), func(t *testing.T) {
						t.Parallel()
						r := gradeShop(t, seed, f.Name, conformance.Options{})
						mu.Lock()
						defer mu.Unlock()
						var failed []string
						for _, o := range r.Failures() {
							failed = append(failed, o.ID)
						}
						if len(failed) > 0 {
							n.found++
						}
						t.Logf("%q, data %d, %d requests, fails %q: %s", f.Name, seed, r.Requests, failed, r.Verdict())
					})
				}
			}
		})
		for name, n := range graded {
			if first[name] == nil {
				first[name] = n
			}
			require.GreaterOrEqual(t, n.found, first[name].found, "%s", name)
		}
	}
	want := testkit.Must(os.ReadFile(shopFile))(t)
	text := shopTable(t, string(want), faults, first, seeds)
	if *update {
		require.NoError(t, os.WriteFile(shopFile, []byte(text), 0o644))
		return
	}
	require.Equal(t, string(want), text, "if the change is meant, write it with -update")
}

// shopTable returns the text of the file with other sums and rows. The words stand in it as they are committed.
func shopTable(t *testing.T, committed string, faults []shopFault, tallies map[string]*tally, seeds int) string {
	require.Contains(t, committed, fmt.Sprintf("\n%d bugs each ", len(faults)/len(shopSets)))
	require.Contains(t, committed, fmt.Sprintf(" over %d data sets,", seeds))
	var sums, rows strings.Builder
	effect, found := map[string]int{}, map[string]int{}
	for _, f := range faults {
		n := tallies[f.Name]
		require.NotNil(t, n, "%s was never graded: run its set, %s, with -update", f.Name, f.Set)
		effect[f.Set] += n.effect
		found[f.Set] += n.found
		fmt.Fprintf(&rows, "| %s | %s | %s | %d | %d |\n", f.Name, f.Kind, f.Set, n.effect, n.found)
	}
	for _, set := range shopSets {
		fmt.Fprintf(&sums, "- %s: %d of %d, %.1f %%\n", set, found[set], effect[set], 100*float64(found[set])/float64(max(effect[set], 1)))
	}
	text := regexp.MustCompile(`(?m)(^- \w+: \d+ of \d+, \S+ %\n)+`).ReplaceAllLiteralString(committed, sums.String())
	return regexp.MustCompile(`(?m)(^\|.*\| \d+ \| \d+ \|\n)+\z`).ReplaceAllLiteralString(text, rows.String())
}

// TestForeign grades a connector in another language, written without this SDK as it is, and broken in two ways.
func TestForeign(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault string
		fails []string
		why   string
	}{
		{name: "as it is", why: "it keeps every rule that can be broken from outside"},
		{name: "neq matches nulls", fault: "neq-null", fails: []string{"P2.3"}, why: "a null cell matches no comparator"},
		{name: "forgets the end", fault: "no-end", fails: []string{"P3.6g"}, why: "a stream that closes with neither end nor error is truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := startForeign(t, c.fault)
			r, err := gradeAt(context.Background(), conformance.Target{URL: url, Token: wire.NewBearer(testToken)},
				&conformance.Options{Seed: 1})
			require.NoError(t, err)
			if c.fails == nil {
				require.NoError(t, r.Err(), c.why)
				require.Equal(t, check.ExitPass, r.Exit())
				require.Greater(t, r.Summary().Passed, 40, "hardly anything was checked")
				return
			}
			require.Equal(t, check.ExitFail, r.Exit())
			for _, id := range c.fails {
				require.Equal(t, conformance.Fail, r.Outcome(id).Verdict, "%s: %s", id, c.why)
			}
		})
	}
}

// startForeign starts the connector over the corpus, with a fault or without, and returns its base URL.
func startForeign(t *testing.T, fault string) (url string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, corpus.Write(dir))
	return startNode(t, "connector.mjs", dir, fault)
}

// startNode starts a program of testdata/foreign that serves on the port it prints, and returns its base URL.
func startNode(t *testing.T, program string, args ...string) (url string) {
	t.Helper()
	cmd := node(t, program, args...)
	cmd.Env = append(os.Environ(), check.EnvToken+"="+testToken, "PORT=0")
	cmd.Stderr = os.Stderr
	out := testkit.Must(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	port := testkit.Must(bufio.NewReader(out).ReadString('\n'))(t, "it does not start")
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

// node returns the command that runs a program of testdata/foreign. Without Node.js it skips the test, or fails it in CI.
func node(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("node is needed in CI")
		}
		t.Skip("needs Node.js 18 or later: put node on the PATH")
	}
	return exec.CommandContext(t.Context(), path, append([]string{"testdata/foreign/" + program}, args...)...)
}
