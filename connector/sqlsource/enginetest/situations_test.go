package enginetest

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// played is a situation, as an engine plays it.
type played struct{ *situation.Situation }

// TestSituations plays each situation on each engine that it has a schema for, once for each line of the section
// variants; under the race detector, which slows all that the engines do not do themselves, engines take turns.
// README.md of testdata/situations says which sections there are.
func TestSituations(t *testing.T) {
	all := situation.All(t)
	for n, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			if !situation.Updating() { // engines write into one file
				t.Parallel()
			}
			for i, s := range all {
				if s.For(e.name, "schema.sql") == nil || testrun.Race && (i+n)%len(engines) > 0 {
					continue
				}
				t.Run(s.Name(), func(t *testing.T) {
					if !situation.Updating() {
						t.Parallel()
					}
					if s.For(e.name, "long") != nil {
						skipShort(t)
					}
					variants := slices.Collect(strings.Lines(s.Text(e.name, "variants")))
					if len(variants) == 0 {
						played{s}.playOn(t, e, "")
					}
					for _, variant := range variants {
						variant = strings.TrimSpace(variant)
						t.Run(variant, func(t *testing.T) { played{s}.playOn(t, e, variant) })
					}
				})
			}
		})
	}
}

// options are the options of a source, as the section options.json has them.
type options struct {
	Only, Schemas []string
	Tables        map[string]sqlsource.TableOptions
	NoProfile     bool
}

// source returns the options. A schema {schema} is what the credential of this name says.
func (own *options) source() *sqlsource.Options {
	o := &sqlsource.Options{Only: own.Only, Tables: own.Tables, Profile: time.Hour} // however busy the machine is
	if own.Schemas != nil {
		o.Schemas = func(c wire.Credentials) []string {
			all := strings.ReplaceAll(strings.Join(own.Schemas, ","), "{schema}", c.Get("schema"))
			return strings.Split(all, ",")
		}
	}
	if own.NoProfile {
		o.Profile = -1
	}
	return o
}

func (s played) playOn(t *testing.T, e *engine, variant string) {
	script := s.Text(e.name, "schema.sql")
	var db *database
	switch {
	case variant == "":
		db = e.create(t)
	case e.variant != nil:
		db = e.variant(t, variant)
	default: // statements of their own
		db, script = e.create(t), variant+"\n"+script
	}
	if s.For(e.name, "uses-index") != nil || s.For(e.name, "same-by") != nil {
		db = e.plain(t)
	}
	var read *database
	if strings.Contains(script, "{user}") {
		var user string
		user, read = e.reader(t, db)
		script = strings.NewReplacer("{user}", user, "{database}", db.credentials["database"]).Replace(script)
	}
	db.execute(t, script)
	if unless := s.Text(e.name, "unless.sql"); unless != "" {
		var skip bool
		require.NoError(t, db.QueryRowContext(t.Context(), unless).Scan(&skip))
		if skip {
			t.Skip("the server answers true to " + unless)
		}
	}
	if db.credentials == nil { // as another program finds it, which keeps no schema of before
		db = db.with(db.flavor)
		db.DB = testkit.Must(db.open(t.Context(), wire.Credentials{}))(t)
		t.Cleanup(func() { _ = db.Close() })
	}
	read = cmp.Or(read, db)
	var own options
	s.Options(t, e.name, &own)
	o := own.source()
	s.discover(t, read, o, e.name)
	ways := []*database{read}
	if e == &postgres {
		ways = append(ways, read.with(pgxrows.PostgreSQL()))
	}
	for _, db := range ways {
		var seen plans
		observed := *o
		observed.Observe = seen.add
		a := &situation.Asking{Tenant: db.caller(t, &observed).Unverified()}
		for _, f := range s.For(e.name, "ask") {
			s.Expect(t, f, situation.Blocks(f.Text, func(r situation.Request) string { return a.Answer(t, r) }))
		}
		for _, f := range s.For(e.name, "observed") {
			s.Expect(t, f, situation.Blocks(f.Text, func(r situation.Request) string {
				seen.take()
				_ = a.Answer(t, r) // an aggregate that is declined is observed too
				summary, _ := seen.take()
				return summary
			}))
		}
		for _, f := range s.For(e.name, "rows") {
			s.Expect(t, f, a.WholeTables(t))
		}
	}
	for _, f := range s.For(e.name, "uses-index") {
		usesIndex(t, e, db, f)
	}
	for _, f := range s.For(e.name, "same-by") {
		all := situation.NewSurvey(t, db.asked(t, nil))
		want := all.Answers(t, db.asked(t, nil))
		for line := range strings.Lines(f.Text) {
			require.Empty(t, all.Differences(want, all.Answers(t, e.by(t, db, strings.TrimSpace(line)).asked(t, nil))), line)
		}
	}
	for _, f := range s.For(e.name, "everything") {
		if testing.Short() && e == &sqlite {
			break // which is Go, and takes minutes under the race detector
		}
		askEverything(t, read, o, f.Text, s.Text(e.name, "between-pages"), s.Section("joins") != nil)
	}
	if judged := s.For(e.name, "judge"); judged != nil && !testing.Short() {
		target, done := conformance.InProcess(read.asked(t, o).Handler, connectortest.Token)
		defer done()
		target.Credentials = []wire.Credentials{read.tenant()}
		conformancetest.Test(t, target, &conformance.Options{Mode: conformance.ModeLive, Requests: 1000})
	}
}

// discover compares what a discovery says. One without statistics must find the same keys.
func (s played) discover(t *testing.T, db *database, o *sqlsource.Options, engine string) {
	t.Helper()
	discovered := func(o sqlsource.Options) *wire.Discovery {
		request := &wire.DiscoveryRequest{Envelope: wire.Envelope{Credentials: db.tenant()}}
		return testkit.Must(db.source(t, &o).Discover(t.Context(), request))(t)
	}
	var found *wire.Discovery
	if !s.Discovered(t, engine, func() *wire.Discovery { found = discovered(*o); return found }) {
		return
	}
	quick := *o
	quick.Profile = -1
	require.Equal(t, situation.Keys(found), situation.Keys(discovered(quick)), "the keys, without statistics")
}
