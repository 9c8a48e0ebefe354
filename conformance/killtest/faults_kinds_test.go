package killtest

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Faults that a trial over the hotels showed to be missed, each of a kind: several keys of a group that are told
// apart by too little, later pages of another tenant, refusals of joins and links that tell whose a table is, and
// foreign keys of which a few values lead somewhere. They are over the hotels and over a library.

// libraryTables returns the tables of a library. Copies stand in aisles and on shelves, and have a mark of parts.
func libraryTables() []memsource.Table { return sampledIn("library") }

// stockTables returns a table with more pairs of places than an aggregate may answer.
func stockTables() []memsource.Table {
	return []memsource.Table{hotelTable("stock", "What lies where.", 1800, nil, func(i int) []wire.Value {
		return []wire.Value{wire.Int(int64(i + 1)), wire.Int(int64(i*7%61 + 1)), wire.Int(int64(i*i%239 + 1))}
	}, "id number", "aisle number", "shelf number")}
}

func library() http.Handler { return plain(libraryTables()...) }

func kindFaults() []fault {
	return slices.Concat(gluedFaults, laterPageFaults, tellingFaults, columnFaults, strayLinkFaults)
}

// glued returns a connector that takes rows for one group if a key made of the several keys of a request is the same.
// The key is made of the texts of the values, in which null is nullText.
func glued(name string, tables func() []memsource.Table, key func(texts []string) string) fault {
	return broken(name, "groups are those of the rows' values", "L8", stocked(tables, twist{
		folded: func(req *wire.AggregateRequest) oracle.Tables {
			all := oracleTables(tables())
			grained := slices.ContainsFunc(req.GroupBy, func(k wire.GroupKey) bool { return k.Grain != "" })
			if len(req.GroupBy) > 1 && len(req.Joins) == 0 && !grained {
				mergeRows(all[req.Table], req.GroupBy, key)
			}
			return all
		}})).graded(live)
}

// mergeRows gives rows with the same key the values of the first of them in the fields that the key is made of.
func mergeRows(t *oracle.Table, keys []wire.GroupKey, key func(texts []string) string) {
	first := map[string][]wire.Value{}
	for _, row := range t.Rows {
		var texts []string
		var cells []wire.Value
		for _, k := range keys {
			cell := row[t.Index(k.Field)]
			cells = append(cells, cell)
			texts = append(texts, map[bool]string{false: cell.String(), true: nullText}[cell.IsNull()])
		}
		id := key(texts)
		if first[id] == nil {
			first[id] = cells
		}
		for i, k := range keys {
			row[t.Index(k.Field)] = first[id][i]
		}
	}
}

const nullText = "\x00"

// joinedBy returns the key that is the texts with something between them.
func joinedBy(between string) func(texts []string) string {
	return func(texts []string) string { return strings.Join(texts, between) }
}

func nullIsEmpty(texts []string) string {
	return strings.ReplaceAll(strings.Join(texts, "\x01"), nullText, "")
}

func orderedTexts(texts []string) string {
	return fmt.Sprintf("%q", slices.Sorted(slices.Values(texts)))
}

var gluedFaults = []fault{
	glued("hotels: two keys of a group stand one behind the other", firstHotels, joinedBy("")),
	glued("hotels: two keys of a group are a set", firstHotels, orderedTexts),
	glued("library: two keys of a group stand one behind the other", libraryTables, joinedBy("")),
	glued("library: two keys of a group have a hyphen between them", libraryTables, joinedBy("-")),
	glued("stock: two keys of many groups stand one behind the other", stockTables, joinedBy("")),
	glued("library: two keys of a group are a set", libraryTables, orderedTexts),
	glued("library: null is an empty text where there are two keys", libraryTables, nullIsEmpty),
}

// keepingPages keeps pages by a key, if a condition holds.
func keepingPages(holds func(body map[string]any) bool, key func(*http.Request, map[string]any) string) layer {
	later := func(body map[string]any) bool { return integer(body, "offset") > 0 && holds(body) }
	return onlyFor(wire.PathQuery, later, keeping(wire.PathQuery, key))
}

// onward serves the later pages of a list to whoever asked for its first page last, as a cursor does that is kept by
// the list alone.
func onward(h http.Handler) http.Handler {
	var cursors sync.Map
	return ofCustomers(wire.PathQuery, func(w http.ResponseWriter, r *http.Request, body map[string]any, customer int) bool {
		if integer(body, "limit") == 0 {
			return false
		}
		list := fmt.Sprint(body["table"], body["and"], body["or"], body["sort"], body["limit"])
		if integer(body, "offset") == 0 {
			cursors.Store(list, customer)
			return false
		}
		owner, begun := cursors.Load(list)
		if begun {
			h.ServeHTTP(w, withBody(r, withSet(marshalled(body), hostSets[owner.(int)])))
		}
		return begun
	})(h)
}

var laterPageFaults = []fault{
	shared("hotels: later pages are kept without the tenant", servedToNobodyElse, "T2", over(chains, keepingPages(asks(), byRequest))),
	shared("hotels: later pages are those of the tenant who began the list last", servedToNobodyElse, "T2", over(chains, onward)),
	shared("hotels: later pages of sorted rows are kept without the tenant", servedToNobodyElse, "T2",
		chains, keepingPages(asks("sort>0"), byRequest)),
	shared("later pages are kept without the tenant", servedToNobodyElse, "T2", over(twoCustomers, keepingPages(asks(), byRequest))),
	shared("later pages of filtered rows are kept without the tenant", servedToNobodyElse, "T2",
		twoCustomers, keepingPages(asks("and>0"), byRequest)),
	shared("later pages are those of the tenant who began the list last", servedToNobodyElse, "T2", over(twoCustomers, onward)),
	shared("later pages of a large table are kept without the tenant", servedToNobodyElse, "T2",
		archives, keepingPages(asks("table=archive"), byRequest)),
}

// othersTables are the tables that only the other customer has.
var othersTables = map[string][2]string{"hotels": {"ski_passes", "spa_visits"}, "host": {"globex_depots", "acme_sites"}}

// leading reports whether a request leads to a table.
type leading = func(body map[string]any, table string) bool

// telling returns a connector that answers requests which lead to a table of the other customer's otherwise than those
// that lead nowhere.
func telling(name, of string, paths []string, leads leading, answer http.HandlerFunc, layers ...layer) fault {
	host := map[string]func() http.Handler{"hotels": chains, "host": twoCustomers}[of]
	tells := ofCustomers("", func(w http.ResponseWriter, r *http.Request, body map[string]any, customer int) bool {
		tells := slices.Contains(paths, r.URL.Path) && leads(body, othersTables[of][customer])
		if tells {
			answer(w, r)
		}
		return tells
	})
	return shared(name, "a table of another tenant is as unknown as one that nobody has", "T1", over(host, tells), layers...)
}

// refusal answers an envelope.
func refusal(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { refuses(w, status, code, message) }
}

// declines answers that the request is declined.
func declines(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

// coloured returns the customers' tables of parts with a column that holds nulls, which only some of the customers have.
func coloured(customers ...int) func() http.Handler {
	return hostWith(func(tables *[2][]memsource.Table) {
		for _, customer := range customers {
			parts := &tables[customer][0]
			parts.Fields = append(parts.Fields, wire.Field{
				Name: "colour", SourceColumn: "colour", Type: wire.TypeString, Nullable: true, Filterable: new(true)})
			for n, row := range parts.Rows {
				parts.Rows[n] = append(row, wire.Null())
			}
		}
	})
}

// otherColumn returns a connector that knows the columns of a table from the customer who has them, and answers them as null
// to the other.
func otherColumn(name, path string, names func(body map[string]any) bool) fault {
	return shared(name, "a column of another tenant is as unknown as one that nobody has", "T1", coloured(1),
		diverted(coloured(0, 1), path, names))
}

var columnFaults = []fault{
	otherColumn("a column of the other tenant is null in rows", wire.PathQuery,
		func(body map[string]any) bool { return slices.Contains(alternatives(body, "fields"), any("colour")) }),
	otherColumn("a column of the other tenant may be filtered by", wire.PathQuery, having("and", asks("field=colour"))),
	otherColumn("a column of the other tenant may be filtered by in counts", wire.PathCount, having("and", asks("field=colour"))),
}

func joined(body map[string]any, table string) bool {
	return having("joins", asks("toTable="+table))(body)
}

func linkedTo(body map[string]any, table string) bool {
	return asks("toTable="+table, "!fromTable="+table)(body)
}

var tellingFaults = []fault{
	telling("a join with a table of another's is forbidden, by refusals with numbers", "host", query, joined,
		refusal(422, "unsupported", "no access"), withNumbers),
	telling("hotels: a join says that the table is another's", "hotels", query, joined,
		refusal(404, "unknown_entity", "your account has no access to the joined table")),
	telling("hotels: a join with a table of another's is answered without rows", "hotels", query, joined,
		func(w http.ResponseWriter, _ *http.Request) { sends(w, http.StatusOK, terms.MediaNDJSON, noRows) }),
	telling("hotels: an aggregate over a join says that the table is another's", "hotels", aggregate, joined,
		refusal(404, "unknown_entity", "the table belongs to another account")),
	telling("hotels: a link to a table of another's is forbidden", "hotels", link, linkedTo, refusal(422, "unsupported", "no access")),
	telling("a join with a table of another's is forbidden", "host", query, joined, refusal(422, "unsupported", "no access")),
	// It is asked last.
	telling("a link from a table of another's says so to the second account", "host", link,
		func(body map[string]any, table string) bool {
			return table == "acme_sites" && asks("fromTable="+table, "!toTable="+table)(body)
		}, refusal(404, "unknown_entity", "the table belongs to another account")),
	telling("a link to a table of another's says so", "host", link, linkedTo,
		refusal(404, "unknown_entity", "the table belongs to another account")),
	telling("an aggregate over a join with a table of another's is declined", "host", aggregate, joined,
		declines),
}

// The routes that tell.
var query, aggregate, link = []string{wire.PathQuery}, []string{wire.PathAggregate}, []string{wire.PathLinkHitRate}

// strayLink returns a connector whose foreign key of a field leads elsewhere.
func strayLink(name string, base func() http.Handler, table, field, to, key string) fault {
	return broken(name, "a key's values are those of its target", "M29", over(base, edits(ofTable(table, eachOf(
		where(asks("field="+field), func(k map[string]any) { k["targetTable"], k["targetField"] = to, key }), "foreignKeys")),
		wire.PathDiscovery))).graded(live)
}

var strayLinkFaults = []fault{
	strayLink("hotels: a shift's staff leads to the hotels", hotel, "shifts", "staff", "hotels", "id"),
	strayLink("hotels: a booking's room leads to the hotels", hotel, "bookings", "room", "hotels", "id"),
	strayLink("hotels: an invoice's booking leads to the rooms", hotel, "invoices", "booking", "rooms", "id"),
	strayLink("library: a copy's book leads to its aisle", func() http.Handler {
		aisles := hotelTable("aisles", "Where copies stand.", 13, nil, func(i int) []wire.Value {
			return []wire.Value{wire.Int(int64(i + 1)), wire.Text(fmt.Sprintf("Aisle %d", i))}
		}, "id number", "name string")
		return plain(append(libraryTables(), aisles)...)
	}, "copies", "book", "aisles", "id"),
}

// TestKindSeeds grades each of these faults by the whole program with several seeds, each of which must find it.
func TestKindSeeds(t *testing.T) {
	seeds, err := strconv.ParseUint(cmp.Or(os.Getenv("CONFORMANCE_SEEDS"), "0"), 10, 8)
	require.NoError(t, err)
	if seeds == 0 {
		t.Skip("takes minutes; set CONFORMANCE_SEEDS=5")
	}
	var found, runs atomic.Int32
	t.Run("faults", func(t *testing.T) {
		for _, f := range kindFaults() {
			for seed := range seeds {
				t.Run(fmt.Sprintf("%s/%d", f.name, seed+1), func(t *testing.T) {
					t.Parallel()
					runs.Add(1)
					g := f.grading()
					g.Seed = seed + 1
					o := grade(t, f.build(), g).Outcome(f.kills[0])
					require.Contains(t, []conformance.Verdict{conformance.Fail, conformance.Advise}, o.Verdict, "%s %s", o.Reason, o.Detail)
					found.Add(1)
				})
			}
		}
	})
	t.Logf("%d of %d found", found.Load(), runs.Load())
}

// TestKindsAsTheyAre grades the hotels and the library as they are, whole and alone: what the faults above show is of
// the faults.
func TestKindsAsTheyAre(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, kind := range []struct {
		name  string
		build func() http.Handler
	}{{"hotels", hotel}, {"library", library}} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, kind.build(), with(live))
			require.NoError(t, r.Err())
			r.has(t, conformance.Pass, "M29")
			require.LessOrEqual(t, r.Requests, defaults.Requests)
		})
	}
}

// TestForeignKeysWithoutMatch grades foreign keys of which some values lead nowhere, which the protocol allows.
func TestForeignKeysWithoutMatch(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func(i int) wire.Value{
		"half of the values":               func(i int) wire.Value { return wire.Int(int64(i%20 + 1)) },
		"most rows, which hold a zero":     func(i int) wire.Value { return wire.Int(int64(max(0, i%40-33))) },
		"numbers spelled as decimals":      func(i int) wire.Value { return wire.Decimal(fmt.Sprintf("%d.0", i%10+1)) },
		"too few values to say":            func(i int) wire.Value { return wire.Int(int64(i%4 + 90)) },
		"all of them, of an empty target":  func(i int) wire.Value { return wire.Int(int64(i + 1)) },
		"ten more values than are matched": func(i int) wire.Value { return wire.Int(int64(i%21 + 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, targets := "decimal", 10
			if name == "all of them, of an empty target" {
				targets = 0
			}
			from := hotelTable("notes", "What was noted.", 80, links("guest guests.id"), func(i int) []wire.Value {
				return []wire.Value{wire.Int(int64(i + 500)), key(i)}
			}, "id number", "guest "+kind)
			to := memsource.Table{Table: wire.Table{Name: "guests", SourceDescription: "Who stays.", StoresRows: true,
				PrimaryKey: []string{"id"}, Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber, Unique: true}}}}
			for i := range targets {
				to.Rows = append(to.Rows, []wire.Value{wire.Int(int64(i + 1))})
			}
			r := grade(t, plain(from, to), ofLive("^M29$"))
			want := conformance.Pass
			if name == "ten more values than are matched" {
				want = conformance.Advise
			}
			r.has(t, want, "M29")
			require.Equal(t, check.ExitPass, r.Exit(), "advice at most")
		})
	}
}
