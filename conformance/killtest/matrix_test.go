package killtest

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

var update = flag.Bool("update", false, "write the golden files anew, to be reviewed")

// faults returns all broken connectors.
func faults() []fault {
	return slices.Concat(documentFaults, emptyBodyFaults, authFaults, protocolDiscoveryFaults, unknownFaults, malformedFaults,
		streamFaults, undeclaredFaults, answerFaults, adviceFaults,
		discoveryFaults, rowFaults, operatorFaults, comparingFaults, orderFaults, claimFaults, joinFaults, aggregateFaults,
		measurementFaults, spellingFaults, generatedFaults,
		liveMeasureFaults, liveRowFaults, vendorFaults, slowFaults, tenantFaults, atOnceFaults, clockFaults, liveClockFaults,
		collateFaults, credentialFaults, hostFaults, secondFaults,
		hotelGroupFaults, hotelTenantFaults, hotelDiscoveryFaults, hotelSortFaults, hotelOrphanFaults, hotelInstantFaults,
		hotelUnknownFaults, kindFaults(), hopFaults, joinedFaults, limitsFaults, liveFilterFaults(),
		overLiveData(slices.Concat(wholeReadFaults, windowFaults, projectionFaults, viewFaults, foldFaults, liveJoinFaults,
			descriptionFaults)),
		nearNameFaults, unseenFieldFaults, hopNameFaults,
		overLiveData(slices.Concat(nullPlaceFaults, laterKeyFaults, tieFaults, instantOperandFaults, besideFaults, repeatedFaults)),
		preparedFaults, echoFaults, largeFaults, longFaults, statisticsFaults, verdictFaults)
}

// TestFaults proves that the program finds faults: every broken connector is failed by the checks that it is named for,
// which say what they found and never the token; and every check has a connector that fails it. What else a fault breaks is
// for TestKillMatrix.
func TestFaults(t *testing.T) {
	t.Parallel()
	kills, named := map[string]bool{}, map[string]bool{}
	for i, f := range faults() {
		require.False(t, named[f.name], "two faults are called %q", f.name)
		named[f.name] = true
		require.NotEmpty(t, f.kills, f.name)
		for i, id := range f.killers() {
			kills[id], kills[f.kills[i]] = true, true
		}
		if !testrun.Runs(i, 48) {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			g := f.grading()
			ids := f.killers()
			if slices.Contains(ids, "T8") { // it asks what other checks have asked
				ids = append(ids, "L4", "L8", "M10")
			}
			g.Match = "^(" + strings.ReplaceAll(strings.Join(ids, "|"), ".", `\.`) + ")$"
			r := grade(t, f.build(), g)
			require.Len(t, r.Outcomes, planned(t, g), "planned checks are reported checks")
			for i, id := range f.killers() {
				o := r.Outcome(id)
				require.NotNil(t, o, "%s is not planned", id)
				want := conformance.Fail
				if o.Advice {
					want = conformance.Advise
				}
				require.Equal(t, want, o.Verdict, "%s, but %s: %s %s", f.why, o.ID, o.Reason, o.Detail)
				require.True(t, killed(f.kills[i], o), "%s: %q, but %q: %s", f.why, f.kills[i], o.Broken, o.Detail)
				require.NotEmpty(t, o.Detail)
				require.Less(t, len(o.Detail+o.Expected+o.Received), 3000, "%s", o.ID)
				require.NotContains(t, fmt.Sprintf("%+v %+v", o, o.Request), testToken, "%s", o.ID)
			}
		})
	}
	for _, c := range allChecks() {
		assert.True(t, kills[c.ID], "no connector fails check %s (%s); a check without a killer does not stay", c.ID, c.Title)
		for _, f := range c.Facets {
			assert.True(t, kills[c.ID+": "+f.Name], "no connector fails facet %q of %s (%s)", f.Name, c.ID, f.Title)
		}
	}
}

// TestFaultsOverTCP grades one broken connector of several kinds over a real
// connection, where time and the network are what they are for users.
func TestFaultsOverTCP(t *testing.T) {
	if !testrun.Race {
		testrun.Long(t)
	}
	t.Parallel()
	for _, kill := range []string{
		"P0.2", "P1.2b", "P1.3", "P2.3: neq", "P2.7: a limit", "P2.11: sum", "P3.4c", "P3.6b", "P3.6g", "L1", "T2",
	} {
		t.Run(kill, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(faults(), func(f fault) bool { return slices.Contains(f.kills, kill) })
			require.GreaterOrEqual(t, i, 0)
			id, _, _ := strings.Cut(kill, ": ")
			f := faults()[i]
			g := f.grading()
			g.Match = "^" + regexp.QuoteMeta(id) + "$"
			r := gradeOverTCP(t, f.build(), g)
			r.has(t, conformance.Fail, id)
			require.Equal(t, check.ExitFail, r.Exit())
		})
	}
}

// matrixFile is the kill matrix: every broken connector, and all that the whole program finds of it.
const matrixFile = "../KILLMATRIX.md"

// TestKillMatrix grades every broken connector with the whole program, and holds what it finds against the committed
// matrix, which is reviewed: a fault should fail the checks that it is named for and few others, and a report names first
// what it is about. It takes minutes, so it runs when it is asked for. With another seed it requires that each is found.
func TestKillMatrix(t *testing.T) {
	part := map[string]int{"whole": 1, "part": 48}[os.Getenv("CONFORMANCE_MATRIX")]
	if part == 0 {
		t.Skip("takes minutes; set CONFORMANCE_MATRIX=whole, or part, as CI does, for one fault of 48")
	}
	all := faults()
	rows := make([]string, len(all))
	t.Run("faults", func(t *testing.T) {
		for i, f := range all {
			if i%part > 0 {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				g := f.grading()
				r := grade(t, f.build(), g)
				require.Len(t, r.Outcomes, planned(t, g), "planned checks are reported checks")
				found, also := map[string]bool{}, []string{}
				for _, o := range r.Outcomes {
					if o.Verdict != conformance.Fail && o.Verdict != conformance.Advise {
						continue
					}
					found[o.ID] = true
					if !slices.Contains(f.killers(), o.ID) {
						also = append(also, o.ID)
						t.Logf("and so %s %s: %s\nexpected %s\nreceived %s", o.ID, o.Title, o.Detail, o.Expected, o.Received)
					}
				}
				for i, id := range f.killers() {
					o := r.Outcome(id)
					require.True(t, !found[id] || killed(f.kills[i], o), "%s: %q, but %q: %s", f.why, f.kills[i], o.Broken, o.Detail)
					// What another check has told already is not told again.
					told := o.Reason == conformance.Blocked && len(r.Failures()) > 0
					require.True(t, found[id] || told, "%s, but %s: %s %s", f.why, id, o.Reason, o.Detail)
				}
				if seed() != 1 {
					return // the matrix is that of one seed
				}
				first := r.Outcomes[slices.IndexFunc(r.Outcomes, func(o conformance.Outcome) bool { return found[o.ID] })]
				first.Broken = first.Broken[:min(len(first.Broken), 1)]
				leads := f.kills
				if f.first != "" {
					leads = strings.Split(f.first, ", or ")
				}
				require.True(t, slices.ContainsFunc(leads, func(kill string) bool {
					id, _, _ := strings.Cut(kill, ": ")
					return id == first.ID && killed(kill, &first)
				}), "%q must be named first, and not %s %q: mend the order of checks or of facets, or say in the row why it is right (%s)",
					leads, first.ID, first.Broken, f.because)
				rows[i] = matrixRow(f, r.Mode) + strings.Join(also, " ") + " |\n"
			})
		}
	})
	if *update {
		require.NoError(t, os.WriteFile(matrixFile, []byte(matrixHead+strings.Join(rowsOver(t, all, rows), "")), 0o644))
	}
	if slices.Contains(rows, "") {
		return // something failed, or was left out
	}
	matrix := matrixHead + strings.Join(rows, "")
	committed, err := os.ReadFile(matrixFile)
	require.NoError(t, err, "no committed matrix: run this test with -update and review it")
	require.Equal(t, string(committed), matrix, "the matrix has changed: run this test with -update and review it")
}

// rowsOver returns the rows of the committed matrix with those that were made now in their places: an update of a few
// rows leaves the others as they are.
func rowsOver(t *testing.T, all []fault, rows []string) []string {
	committed := testkit.Must(os.ReadFile(matrixFile))(t)
	old := map[string]string{}
	for row := range strings.Lines(strings.TrimPrefix(string(committed), matrixHead)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		old[name] = row
	}
	over := slices.Clone(rows)
	for i, f := range all {
		over[i] = cmp.Or(over[i], old[f.name])
	}
	return over
}

// TestKillMatrixLists requires that the committed matrix lists the broken connectors as they are, without grading them.
func TestKillMatrixLists(t *testing.T) {
	committed := testkit.Must(os.ReadFile(matrixFile))(t)
	rows := strings.Split(strings.TrimSuffix(strings.TrimPrefix(string(committed), matrixHead), "\n"), "\n")
	all := faults()
	require.Len(t, rows, len(all))
	for i, f := range all {
		g := f.grading()
		require.True(t, strings.HasPrefix(rows[i], matrixRow(f, cmp.Or(g.Mode, conformance.ModeFixture))), "%s\n%s", f.name, rows[i])
	}
}

// matrixRow returns the row of a broken connector without what else it fails.
func matrixRow(f fault, mode conformance.Mode) string {
	if len(f.grading().credentials) == 2 {
		mode += ", two tenants"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | ", f.name, f.why, mode, strings.Join(f.kills, ", "))
}

const matrixHead = `# Kill matrix

Every row is a connector that is broken on purpose, and graded by the whole program. *Fails* are the checks that must find
it, by name; *and so* are further ones that the same fault cannot but break, reviewed when the row was made: an operator without
its null rule fails wherever that operator is asked for. Every check stands in the column *fails* at least once. Written by
` + "`CONFORMANCE_MATRIX=whole go test -run TestKillMatrix ./conformance/killtest -update`" + `.

| Broken connector | Against the rule | Mode | Fails | And so |
|---|---|---|---|---|
`

// planned returns how many checks a run must report, counted apart from the program.
func planned(t *testing.T, g grading) int {
	t.Helper()
	phases := map[conformance.Mode]string{"": "0123", conformance.ModeFixture: "0123", conformance.ModeLive: "0134",
		conformance.ModeBoth: "01234"}[g.Mode]
	require.Empty(t, g.Phases)
	n := 0
	for _, c := range allChecks() {
		if strings.Contains(phases, fmt.Sprint(c.Phase)) && regexp.MustCompile(g.Match).MatchString(c.ID) {
			n++
		}
	}
	return n
}

// fault is one deliberately broken connector: what it does wrong, and the checks that must find it.
type fault struct {
	name string
	why  string // which rule only this breaks
	// kills are the checks that must fail, or advise: an id or, of a check with facets, an id and a facet, such as "P2.3:
	// eq". What else the same fault cannot but break is reviewed in the kill matrix.
	kills []string
	// first is the check, or the facet, that a report names first where that is none of kills, or "a, or b" where chance
	// decides, and because says why it is right: most often, an earlier check asks the same.
	first, because string
	// client is the rule by which the platform's client refuses an answer of it. The client judges the form of answers, and
	// rows that contradict what was claimed or described; it need not notice any other fault.
	client string
	// harmless is why the client takes all answers of one that fails a check about their form.
	harmless string
	// options is added to those of a run over the corpus, such as a mode or a second tenant.
	options func(*grading)
	// build makes the connector.
	build  func() http.Handler
	ofDesk twist // what is wrong with it, of one over the help desk
}

// broken returns a fault. Several checks that must fail are separated by commas.
func broken(name, why, kills string, build func() http.Handler) fault {
	return fault{name: name, why: why, kills: strings.Split(kills, ", "), build: build}
}

// graded returns the fault with what is added to the options of its run.
func (f fault) graded(options func(*grading)) fault {
	f.options = options
	return f
}

// refused returns the fault with the rule by which the platform's client refuses it.
func (f fault) refused(rule string) fault {
	f.client = rule
	return f
}

// accepted returns the fault with why the platform's client takes it.
func (f fault) accepted(why string) fault {
	f.harmless = why
	return f
}

// behind returns the fault with what a report names before what it is named for, and why.
func (f fault) behind(first, because string) fault {
	f.first, f.because = first, because
	return f
}

// overLiveData returns faults that are graded over live data, unless they say otherwise.
func overLiveData(faults []fault) []fault {
	for i := range faults {
		if faults[i].options == nil {
			faults[i].options = live
		}
	}
	return faults
}

// killers returns the ids of the checks that must fail.
func (f fault) killers() (ids []string) {
	for _, kill := range f.kills {
		id, _, _ := strings.Cut(kill, ": ")
		ids = append(ids, id)
	}
	return ids
}

// killed reports whether a kill is about the outcome: its finding names the facet.
func killed(kill string, o *conformance.Outcome) bool {
	_, facet, _ := strings.Cut(kill, ": ")
	return facet == "" || slices.ContainsFunc(o.Broken, func(name string) bool {
		return name == facet || strings.HasPrefix(name, facet+" on a column of type ")
	})
}

// grading returns how the fault is graded.
func (f fault) grading() grading { return with(f.options) }
