package enginetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var update = flag.Bool("update", false, "write what is answered into the files of situations, to be read before it is committed")

// situation is a file of testdata/situations: a database, what is asked of it, and what is
// answered. README.md there says which sections there are.
type situation struct {
	path    string
	archive *txtar.Archive
	written map[string]bool // with -update: another variant or engine must answer the same
}

// TestSituations plays each situation on each engine that it has a schema for.
func TestSituations(t *testing.T) {
	paths, err := filepath.Glob("testdata/situations/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := make([]*situation, len(paths))
	for i, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		all[i] = &situation{path, archive, map[string]bool{}}
	}
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			if !*update { // engines write into one file
				t.Parallel()
			}
			for _, s := range all {
				if s.section("schema."+e.name+".sql") == nil && s.section("schema.sql") == nil {
					continue
				}
				t.Run(strings.TrimSuffix(filepath.Base(s.path), ".txtar"), func(t *testing.T) {
					if !*update {
						t.Parallel()
					}
					s.play(t, e)
				})
			}
		})
	}
}

// section returns a section by its name, or nil.
func (s *situation) section(name string) *txtar.File {
	at := slices.IndexFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if at < 0 {
		return nil
	}
	return &s.archive.Files[at]
}

// sections returns the sections for an engine: that of every engine, and its own.
func (s *situation) sections(name string, e *engine) (all []*txtar.File) {
	base, ext, _ := strings.Cut(name, ".")
	if ext != "" {
		ext = "." + ext
	}
	for _, name := range []string{name, base + "." + e.name + ext} {
		if f := s.section(name); f != nil {
			all = append(all, f)
		}
	}
	return all
}

// text returns the text of the sections for an engine.
func (s *situation) text(name string, e *engine) string {
	var b strings.Builder
	for _, f := range s.sections(name, e) {
		b.Write(f.Data)
	}
	return b.String()
}

// expect requires that a section has a text. With -update it gets it.
func (s *situation) expect(t *testing.T, f *txtar.File, got string) {
	t.Helper()
	if *update && !s.written[f.Name] {
		f.Data, s.written[f.Name] = []byte(got), true
		require.NoError(t, os.WriteFile(s.path, txtar.Format(s.archive), 0o644))
	}
	require.Equal(t, string(f.Data), got, "section %s of %s", f.Name, s.path)
}

// play plays the situation on an engine, once for each line of the section variants.
func (s *situation) play(t *testing.T, e *engine) {
	if s.section("long") != nil {
		skipShort(t)
	}
	variants := slices.Collect(strings.Lines(s.text("variants."+e.name, e)))
	if len(variants) == 0 {
		s.playOn(t, e, "")
	}
	for _, variant := range variants {
		variant = strings.TrimSpace(variant)
		t.Run(variant, func(t *testing.T) { s.playOn(t, e, variant) })
	}
}

// options are the options of a source, as the section options.json has them.
type options struct {
	Only, Schemas []string
	Tables        map[string]sqlsource.TableOptions
	NoProfile     bool
}

func (s *situation) options(t *testing.T, e *engine) *sqlsource.Options {
	t.Helper()
	var own options
	if text := s.text("options.json", e); text != "" {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&own))
	}
	o := &sqlsource.Options{Only: own.Only, Tables: own.Tables, Profile: time.Hour} // however busy the machine is
	if own.Schemas != nil {
		o.Schemas = func(wire.Credentials) []string { return own.Schemas }
	}
	if own.NoProfile {
		o.Profile = -1
	}
	return o
}

func (s *situation) playOn(t *testing.T, e *engine, variant string) {
	script := s.text("schema.sql", e)
	var db *database
	switch {
	case variant == "":
		db = e.create(t)
	case e.variant != nil:
		db = e.variant(t, variant)
	default: // statements of their own
		db, script = e.create(t), variant+"\n"+script
	}
	if s.sections("uses-index", e) != nil || s.sections("same-by", e) != nil {
		db = e.plain(t)
	}
	var read *database
	if strings.Contains(script, "{user}") {
		var user string
		user, read = e.reader(t, db)
		script = strings.NewReplacer("{user}", user, "{database}", db.credentials["database"]).Replace(script)
	}
	db.execute(t, script)
	if unless := s.text("unless.sql", e); unless != "" {
		var skip bool
		require.NoError(t, db.QueryRowContext(t.Context(), unless).Scan(&skip))
		if skip {
			t.Skip("the server answers true to " + unless)
		}
	}
	if db.credentials == nil { // as another program finds it, which keeps no schema of before
		opened, err := db.open(t.Context(), wire.Credentials{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = opened.Close() })
		own := *db
		own.DB, db = opened, &own
	}
	read = cmp.Or(read, db)
	o := s.options(t, e)
	s.discover(t, e, read, o)
	ways := []*database{read}
	if e == &postgres {
		ways = append(ways, read.with(pgxrows.PostgreSQL()))
	}
	for _, db := range ways {
		var seen plans
		observed := *o
		observed.Observe = seen.add
		a := &asking{tenant: db.caller(t, &observed).Unverified()}
		for _, f := range s.sections("ask", e) {
			s.expect(t, f, a.blocks(t, f, func(r request) string { return a.answer(t, r) }))
		}
		for _, f := range s.sections("observed", e) {
			s.expect(t, f, a.blocks(t, f, func(r request) string {
				seen.take()
				_ = a.answer(t, r) // an aggregate that is declined is observed too
				summary, _ := seen.take()
				return summary
			}))
		}
		for _, f := range s.sections("rows", e) {
			s.expect(t, f, a.wholeTables(t))
		}
	}
	for _, f := range s.sections("uses-index", e) {
		usesIndex(t, e, db, f)
	}
	for _, f := range s.sections("same-by", e) {
		all := newSurvey(t, db)
		want := all.answers(t, db)
		for line := range strings.Lines(string(f.Data)) {
			require.Empty(t, all.differences(want, all.answers(t, e.by(t, db, strings.TrimSpace(line)))), line)
		}
	}
	for _, f := range s.sections("everything", e) {
		if testing.Short() && e == &sqlite {
			break // which is Go, and takes minutes under the race detector
		}
		askEverything(t, read, o, string(f.Data), s.text("between-pages", e), s.section("joins") != nil)
	}
	if judged := s.sections("judge", e); judged != nil && !testing.Short() {
		target, done := conformance.InProcess(read.handler(t, o), token)
		defer done()
		target.Credentials = []wire.Credentials{read.tenant()}
		conformancetest.Test(t, target, &conformance.Options{Mode: conformance.ModeLive, Requests: 1000})
	}
}

// discover compares the sections tables and warnings with a discovery. One without statistics
// must find the same keys.
func (s *situation) discover(t *testing.T, e *engine, db *database, o *sqlsource.Options) {
	t.Helper()
	tables, warnings := s.sections("tables", e), s.sections("warnings", e)
	if tables == nil && warnings == nil {
		return
	}
	discovered := func(o sqlsource.Options) *wire.Discovery {
		found, err := db.source(t, &o).Discover(t.Context(), &wire.DiscoveryRequest{Envelope: wire.Envelope{Credentials: db.tenant()}})
		require.NoError(t, err)
		return found
	}
	found := discovered(*o)
	byName := func(a, b wire.Table) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(found.Tables, byName)
	for _, f := range tables {
		var b strings.Builder
		for i := range found.Tables {
			b.WriteString(described(&found.Tables[i]))
		}
		s.expect(t, f, b.String())
	}
	got := strings.Join(append(found.Warnings, ""), "\n")
	for _, f := range warnings {
		s.expect(t, f, got)
	}
	require.True(t, warnings != nil || got == "", "warnings without a section: %s", got)
	quick := *o
	quick.Profile = -1
	require.Equal(t, keysOf(found), keysOf(discovered(quick)), "the keys, without statistics")
}

// described returns what a discovery says of a table, and of each field in a line.
func described(table *wire.Table) string {
	rows, kind := "uncounted", "a view"
	if table.RowCount != nil {
		rows = fmt.Sprint(*table.RowCount)
	}
	if table.StoresRows {
		kind = "stored"
	}
	if !slices.ContainsFunc(table.Fields, func(f wire.Field) bool { return f.Stats != nil }) {
		kind += ", without statistics"
	}
	b := fmt.Sprintf("%s: %s rows, %s\n", shown(table.Name), rows, kind)
	if table.SourceDescription != "" {
		b += fmt.Sprintf("  description %q\n", table.SourceDescription)
	}
	b += keys(table)
	for _, f := range table.Fields {
		b += fmt.Sprintf("  %s %s", shown(f.Name), f.Type)
		for _, also := range []struct {
			text string
			is   bool
		}{
			{" null", f.Nullable}, {" unique", f.Unique}, {" of " + shown(f.SourceColumn), f.SourceColumn != f.Name && f.SourceColumn != ""},
			{fmt.Sprintf(" %q", f.SourceDescription), f.SourceDescription != ""},
		} {
			if also.is {
				b += also.text
			}
		}
		b += "\n"
	}
	return b
}

// shown returns a name, quoted unless it is a plain one.
func shown(name string) string {
	if q := fmt.Sprintf("%q", name); q != `"`+name+`"` || strings.ContainsAny(name, ` ,:>`) || name == "" {
		return q
	}
	return name
}

// keys returns the keys of a table, each in a line.
func keys(table *wire.Table) (b string) {
	if len(table.PrimaryKey) > 0 {
		b += "  key " + strings.Join(table.PrimaryKey, ", ") + "\n"
	}
	for _, k := range table.ForeignKeys {
		b += "  key " + k.Field + " > " + k.TargetTable + "." + k.TargetField + "\n"
	}
	return b
}

// keysOf returns the keys of all tables, and the warnings of keys.
func keysOf(found *wire.Discovery) (b string) {
	for i := range found.Tables {
		if own := keys(&found.Tables[i]); own != "" { // without statistics, no row is read of a view
			b += found.Tables[i].Name + "\n" + own
		}
	}
	for _, w := range found.Warnings {
		if strings.Contains(w, "key (") {
			b += w + "\n"
		}
	}
	return b
}

// request is a request of a section: the last part of its path, and its body without what all have.
type request struct{ route, body string }

// asking asks the requests of sections as one tenant.
type asking struct{ tenant *connectortest.Tenant }

// blocks returns a section with other answers. A line that begins with # says why, one that begins
// with a route asks, and goes on until its JSON ends. All others are the answer before.
func (*asking) blocks(t *testing.T, f *txtar.File, answer func(request) string) string {
	t.Helper()
	var b strings.Builder
	var open request
	flush := func() {
		if open.route != "" {
			b.WriteString(answer(open))
			open = request{}
		}
	}
	for line := range strings.Lines(string(f.Data)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.HasPrefix(line, "#"):
			flush()
			b.WriteString(line)
		case open.route != "" && !json.Valid([]byte(cmp.Or(open.body, "{}"))):
			open.body += line
			b.WriteString(line)
		case slices.Contains([]string{"check", "size", "query", "count", "cardinality", "aggregate", "linkHitRate"}, word):
			flush()
			open = request{word, rest}
			b.WriteString(line)
		}
	}
	flush()
	return b.String()
}

// decode reads the body of a request, which says only what is not usual.
func (r request) decode(t testing.TB, m wire.Message, usual string) {
	t.Helper()
	members := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal([]byte(`{"credentials": {}, "timeoutMs": 300000`+usual+`}`), &members))
	require.NoError(t, json.Unmarshal([]byte(cmp.Or(r.body, "{}")), &members), r.body)
	body, err := json.Marshal(members)
	require.NoError(t, err)
	require.NoError(t, wire.Decode(body, m), r.body)
}

// query reads the body of a query.
func (r request) query(t *testing.T) (q wire.QueryRequest) {
	t.Helper()
	r.decode(t, &q, `, "and": [], "sort": []`)
	return q
}

// aggregate reads the body of an aggregate.
func (r request) aggregate(t *testing.T) (q wire.AggregateRequest) {
	t.Helper()
	r.decode(t, &q, fmt.Sprintf(`, "and": [], "groupBy": [], "measures": [], "limit": %d`, wire.AggregateLimit))
	return q
}

// link reads the body of a link.
func (r request) link(t *testing.T) (q wire.LinkHitRateRequest) {
	t.Helper()
	r.decode(t, &q, "")
	return q
}

// answer asks a request, and returns the answer in lines: of JSON, or what went wrong.
func (a *asking) answer(t *testing.T, r request) string {
	t.Helper()
	lines, err := a.ask(t, r)
	var refusal *wire.Error
	switch {
	case errors.Is(err, connector.ErrDecline):
		lines = []string{"declined"}
	case errors.As(err, &refusal):
		if len(lines) > 0 {
			lines = []string{"rows, and then"}
		}
		lines = append(lines, fmt.Sprintf("%s: %s", refusal.Code, refusal.Message))
	default:
		require.NoError(t, err, r.body)
	}
	return strings.Join(append(lines, ""), "\n")
}

// ask returns the answer to a request in lines. An error may stand beside rows before it.
func (a *asking) ask(t *testing.T, r request) (lines []string, err error) {
	t.Helper()
	tenant := a.tenant.In(t)
	switch r.route {
	case "check":
		return nil, tenant.Check()
	case "size":
		var q wire.SizeRequest
		r.decode(t, &q, "")
		size, err := tenant.Size(q.Table)
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("%d exact %t", size.Rows, size.Exact)}, nil
	case "count":
		var q wire.CountRequest
		r.decode(t, &q, `, "and": []`)
		n, err := tenant.Count(q)
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprint(n)}, nil
	case "query":
		q := r.query(t)
		answer, err := tenant.Query(q)
		if answer == nil {
			return nil, err
		}
		return inLines(answer.Rows, len(q.Sort) > 0), err
	case "cardinality":
		var q wire.CardinalityRequest
		r.decode(t, &q, "")
		counts, err := tenant.Cardinality(q.Table, q.Columns...)
		for _, name := range q.Columns {
			if c := counts[name]; c != nil {
				lines = append(lines, fmt.Sprintf("%s %d distinct of %d", name, c.Distinct, c.NonNull))
			} else if err == nil {
				lines = append(lines, name+" unknown")
			}
		}
		return lines, err
	case "aggregate":
		q := r.aggregate(t)
		groups, err := tenant.Aggregate(q)
		rows := make([][]wire.Value, len(groups))
		for i, group := range groups {
			for _, k := range q.GroupBy {
				rows[i] = append(rows[i], group[k.As])
			}
			for _, m := range q.Measures {
				rows[i] = append(rows[i], group[m.As])
			}
		}
		return inLines(rows, false), err
	default:
		rate, err := tenant.LinkHitRate(r.link(t))
		if err != nil {
			return nil, err
		}
		return []string{fmt.Sprintf("%d not null, %d orphans %q", rate.FromNonNull, rate.OrphanCount, rate.OrphanSamples)}, nil
	}
}

// inLines returns rows as JSON, each in a line: sorted, unless their order is part of the answer.
func inLines(rows [][]wire.Value, ordered bool) []string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		line := []byte{'['}
		for j, v := range row {
			if j > 0 {
				line = append(line, ", "...)
			}
			line, _ = v.AppendJSON(line)
		}
		lines[i] = string(append(line, ']'))
	}
	if !ordered {
		slices.Sort(lines)
	}
	return lines
}

// wholeTables returns all rows of all tables.
func (a *asking) wholeTables(t *testing.T) string {
	t.Helper()
	found, err := a.tenant.Discover()
	require.NoError(t, err)
	var b bytes.Buffer
	for _, table := range found.Tables {
		fmt.Fprintln(&b, shown(table.Name))
		q := wire.QueryRequest{Table: table.Name, Sort: []wire.SortKey{}}
		for _, f := range table.Fields {
			q.Fields = append(q.Fields, f.Name)
		}
		answer, err := a.tenant.Query(q)
		require.NoError(t, err, table.Name)
		for _, line := range inLines(answer.Rows, false) {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}
