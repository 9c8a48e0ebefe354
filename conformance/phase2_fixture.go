package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fixture is what a run knows of the corpus as the connector under test serves
// it.
type fixture struct {
	found *discovered
	// truth is the corpus under the types that the connector declares, which
	// decide how its values compare (A10). Whether they are the right types is
	// for P2.1b.
	truth oracle.Tables
	none  string // why there is no corpus to grade (I1a)
	// health is what was found of the tables that were read whole.
	health map[string]*health
	// lies are the results of the probes of P2.9: whether a part of the claims
	// means nothing at all.
	lies map[string]bool
	// operators are the checks in which an operator has failed on a type, such
	// as "eq string".
	operators map[string]string
}

// The corpus is embedded and immutable: it is read once for all runs.
var (
	corpusTables = sync.OnceValue(func() map[string]*corpus.Table {
		all := map[string]*corpus.Table{}
		for _, t := range corpus.Tables() {
			all[t.Name] = &t
		}
		return all
	})
	corpusNames = sync.OnceValue(func() (names []string) {
		for _, t := range corpus.Tables() {
			names = append(names, t.Name)
		}
		return names
	})
	corpusCases = sync.OnceValue(func() map[string][]corpus.Case {
		all := map[string][]corpus.Case{}
		for _, c := range corpus.Cases() {
			all[c.Check] = append(all[c.Check], c)
		}
		return all
	})
)

// corpusServed is the fixture; the check ends without one.
func (x *exam) corpusServed() *fixture {
	s := x.session
	if s.fixture == nil {
		s.fixture = x.findCorpus()
	}
	if s.fixture.none != "" {
		s.noCorpus = s.fixture.none
		x.skip(NoData, "%s", s.noCorpus)
	}
	return s.fixture
}

const howToLoad = "write the corpus out with `conform -fixture DIR`, load it into the source and run again, or grade real data with -mode live"

func (x *exam) findCorpus() *fixture {
	f := &fixture{found: x.discovery(0), truth: oracle.Tables{}, health: map[string]*health{}, lies: map[string]bool{}, operators: map[string]string{}}
	manifest := f.found.tables[corpus.ManifestTable]
	if manifest == nil {
		f.none = fmt.Sprintf("the fixture corpus is not loaded: discovery has no table %s; %s", corpus.ManifestTable, howToLoad)
		return f
	}
	snap := x.snapshot(0, manifest)
	switch {
	case snap.by != "":
		x.blocked(snap.by, snap.why)
	case snap.Table == nil:
		f.none = fmt.Sprintf("the manifest of the fixture corpus cannot be read: %s", snap.why)
	case len(snap.Rows) != 1:
		f.none = fmt.Sprintf("the fixture corpus is not loaded: table %s has %d rows, not one; %s", corpus.ManifestTable, len(snap.Rows), howToLoad)
	default:
		want := corpusTables()[corpus.ManifestTable]
		for i, field := range want.Fields {
			at := snap.Index(field.Name)
			if at < 0 || !oracle.Same(want.Rows[0][i], snap.Rows[0][at], wire.TypeString) {
				f.none = fmt.Sprintf("another corpus is loaded: the %s in table %s is not %s; %s", field.Name, corpus.ManifestTable, want.Rows[0][i].String(), howToLoad)
				break
			}
		}
	}
	for name, t := range corpusTables() {
		table := &oracle.Table{Name: name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: t.Rows}
		if declared := f.found.tables[name]; declared != nil {
			for i := range table.Columns {
				if own := declared.Field(table.Columns[i].Name); own != nil {
					table.Columns[i].Type = own.Type
				}
			}
		}
		f.truth[name] = table
	}
	return f
}

// typeFits reports whether a type is an honest one for a column of the corpus.
// Numbers and decimals compare alike; a source may not tell arrays from other
// JSON; a key of another table may be called a reference; and nobody can tell
// the type of nothing.
func typeFits(t *corpus.Table, f *wire.Field, declared wire.Type) bool {
	switch {
	case declared == f.Type,
		declared.Numeric() && f.Type.Numeric(),
		f.Type == wire.TypeReference && declared == wire.TypeString,
		f.Type == wire.TypeArray && declared == wire.TypeJSON:
		return true
	case declared == wire.TypeReference:
		return slices.ContainsFunc(t.ForeignKeys, func(k wire.ForeignKey) bool { return k.Field == f.Name })
	}
	i := slices.IndexFunc(t.Fields, func(o wire.Field) bool { return o.Name == f.Name })
	return !slices.ContainsFunc(t.Rows, func(row []wire.Value) bool { return !row[i].IsNull() })
}

// health is what reading a table whole has shown of it.
type health struct {
	unread Reason // why nothing is known; empty when it was read
	why    string
	by     string   // the check whose rule the reading broke
	rows   *finding // rows are missing or too many
	// cells are the columns that hold another value than the corpus.
	cells []damage
	// spelled are the columns whose values are right and spelled otherwise than
	// the protocol wants, by check and column.
	spelled []spelling
}

// damage is a column with wrong cells, and the check that is about its kind.
type damage struct {
	column, check string
	*finding
}

// damaged is what is wrong with a column; nil when its cells are right.
func (h *health) damaged(column string) *damage {
	for i := range h.cells {
		if h.cells[i].column == column {
			return &h.cells[i]
		}
	}
	return nil
}

// spelling is a right value in a wrong spelling.
type spelling struct {
	check string
	*finding
}

// examine reads a table of the corpus whole and holds it against the corpus,
// once.
func (x *exam) examine(f *fixture, name string) *health {
	h := f.health[name]
	if h == nil {
		h = x.examineNow(f, name)
		f.health[name] = h
	}
	return h
}

func (x *exam) examineNow(f *fixture, name string) *health {
	declared := f.found.tables[name]
	if declared == nil {
		return &health{unread: Blocked, by: "P2.1a", why: "discovery has no table " + name}
	}
	for _, key := range corpusTables()[name].PrimaryKey {
		if declared.Field(key) == nil {
			return &health{unread: Blocked, by: "P2.1a", why: fmt.Sprintf("discovery has no field %s in table %s", key, name)}
		}
	}
	snap := x.snapshot(0, declared)
	switch {
	case snap.by != "":
		return &health{unread: Blocked, by: snap.by, why: snap.why}
	case snap.Table == nil:
		return &health{unread: NoData, why: snap.why}
	}
	h := &health{}
	want := f.truth[name]
	request := x.session.shown(x.ask(wire.PathQuery, everything(declared), 0))
	rows, found := pair(want, snap.Table)
	if found != nil {
		h.rows = found
		h.rows.request = request
	}
	for i, c := range want.Columns {
		at := snap.Index(c.Name)
		if at < 0 {
			continue // P2.1a
		}
		for n, row := range rows {
			if row == nil {
				continue
			}
			h.hold(want, corpusTables()[name].Fields[i].Type, i, n, row[at], request)
		}
	}
	return h
}

// pair finds for each row of the corpus the row that was answered, by its
// primary key.
func pair(want, got *oracle.Table) (rows [][]wire.Value, f *finding) {
	key := func(t *oracle.Table, row []wire.Value) string {
		text := ""
		for _, name := range want.PrimaryKey {
			v := wire.Null()
			if i := t.Index(name); i >= 0 && i < len(row) {
				v = row[i]
			}
			// Keys of the corpus are plain texts and whole numbers, which some
			// spell 1.00.
			part := v.String()
			if whole, frac, dot := strings.Cut(part, "."); dot && strings.Trim(frac, "0") == "" {
				part = whole
			}
			text += part + "\x00"
		}
		return text
	}
	answered := make(map[string][]wire.Value, len(got.Rows))
	rows = make([][]wire.Value, len(want.Rows))
	for _, row := range got.Rows {
		k := key(got, row)
		if answered[k] != nil && f == nil {
			f = &finding{detail: fmt.Sprintf("table %s: a row is answered twice", want.Name), received: oracleRow(got, row)}
		}
		answered[k] = row
	}
	for i, row := range want.Rows {
		k := key(want, row)
		rows[i] = answered[k]
		if rows[i] == nil && (f == nil || f.expected == "") {
			f = &finding{detail: fmt.Sprintf("table %s: a row is missing", want.Name), expected: oracleRow(want, row),
				received: fmt.Sprintf("%d of %d rows", len(got.Rows), len(want.Rows))}
		}
		delete(answered, k)
	}
	if f == nil {
		for _, row := range got.Rows {
			if answered[key(got, row)] != nil {
				return rows, &finding{detail: fmt.Sprintf("table %s: a row that the corpus does not have", want.Name),
					expected: fmt.Sprintf("%d rows", len(want.Rows)), received: oracleRow(got, row)}
			}
		}
	}
	return rows, f
}

// oracleRow is a row as a report shows it.
func oracleRow(t *oracle.Table, row []wire.Value) string {
	text := "{"
	for i, c := range t.Columns {
		if i > 0 {
			text += ","
		}
		text += c.Name + ":"
		if i < len(row) {
			text += shownCell(row[i])
		}
		if len(text) > 300 {
			break
		}
	}
	return excerpt([]byte(text+"}"), 300)
}

// shownCell is a cell as it crosses the wire.
func shownCell(v wire.Value) string {
	text, err := v.AppendJSON(nil)
	if err != nil {
		return "?"
	}
	return excerpt(text, 120)
}
