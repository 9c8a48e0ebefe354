package killtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Faults of joins that a join along a foreign key does not show: its target has no nulls, and the judge names what it asks for.

const (
	nullMatchesNothing = "a null key matches nothing"
	answersFromSource  = "an answer is made of what the source holds, whatever was asked before"
)

func alsoNulls(name string, tables func() []memsource.Table, concerns func(from, to wire.Type) bool) fault {
	return broken(name, nullMatchesNothing, "M21", stocked(tables, alsoMatching(tables, concerns, func(from, key wire.Value) bool {
		return from.IsNull() && key.IsNull()
	})))
}

func anyTypes(_, _ wire.Type) bool { return true }

func ofTunes(name, why string, also func(from, key wire.Value) bool) fault {
	return broken("tunes: "+name, why, "M21", stocked(tuneTables, alsoMatching(tuneTables, anyTypes, also)))
}

func overwritten(name string, tables func() []memsource.Table, into func(own wire.Column) bool) fault {
	return broken(name, answersFromSource, "M27", func() http.Handler { return stocked(tables, overwriting(tables, into))() })
}

var hopFaults = overLiveData([]fault{
	alsoNulls("hotels: nulls of both sides match", firstHotels, anyTypes),
	alsoNulls("hotels: null texts of both sides match", firstHotels,
		func(from, to wire.Type) bool { return from == wire.TypeString && to == wire.TypeString }),
	alsoNulls("parts: nulls of both sides match", pagedTables, anyTypes),
	ofTunes("a null key meets the empty text", nullMatchesNothing,
		func(from, key wire.Value) bool { return from.IsNull() && key.Text() == "" && !key.IsNull() }),
	ofTunes("text keys that look like numbers meet as numbers", "texts are compared as texts", func(from, key wire.Value) bool {
		return terms.IsDecimal(from.Text()) && from.Text() != key.Text() && oracle.Same(from, key, wire.TypeNumber)
	}),
	overwritten("hotels: a joined column is written into the row that is kept", firstHotels, func(wire.Column) bool { return true }),
	overwritten("library: a joined number is written into the row that is kept", libraryTables,
		func(own wire.Column) bool { return own.Type == wire.TypeNumber }),
})

// tuneTables returns tables that are joined by number and by text: tunes have keys that look like numbers, and an empty one.
func tuneTables() []memsource.Table {
	keys := []string{"", "7", "007", "7.0", "T1", "t1", "T2", "12", "012", "T3"}
	towers := hotelTable("towers", "Where bells hang.", 20, nil, func(i int) []wire.Value {
		return []wire.Value{wire.Int(int64(i + 1)), wire.Text(fmt.Sprint("Tower ", i*7%20))}
	}, "id number", "name string")
	tunes := hotelTable("tunes", "What is played.", len(keys), nil, func(i int) []wire.Value {
		return []wire.Value{wire.Text(keys[i]), wire.Text(fmt.Sprint("Tune ", i*3%10)), wire.Int(int64(40 + i*i))}
	}, "code string", "title string", "bars number")
	ofBoth := links("tower towers.id", "tune tunes.code")
	played := hotelTable("played", "What was played where.", 80, ofBoth, func(i int) []wire.Value {
		tune := unless(i%6 == 1, wire.Text(append(keys, "07")[i*i%11]))
		at := time.Date(2024, time.May, 1+i%9, 20, i, 0, i%4*250_000_000, time.UTC)
		return []wire.Value{wire.Int(int64(i + 1)), wire.Int(int64(i*3%20 + 1)), tune, wire.DatetimeWidth(at, 3)}
	}, "id number", "tower number", "tune string?", "at datetime")
	return []memsource.Table{towers, tunes, played}
}

// alsoMatching joins rows over columns of some types also where another condition on the two keys holds.
func alsoMatching(tables func() []memsource.Table, concerns func(from, to wire.Type) bool, also func(from, key wire.Value) bool) twist {
	all := oracleTables(tables())
	return twist{joined: func(req *connector.Query, t *oracle.Table) {
		hop, to := req.Joins[0], all[req.Joins[0].ToTable]
		from, key := t.Index(hop.FromField), to.Index(hop.ToField)
		if len(req.Joins) > 1 || !concerns(t.Columns[from].Type, to.Columns[key].Type) {
			return
		}
		var rows [][]wire.Value
		for _, row := range t.Rows {
			before := len(rows)
			for _, other := range to.Rows {
				if !also(row[from], other[key]) {
					continue
				}
				matched := slices.Clone(row)
				for i, f := range hop.Fields {
					matched[len(row)-len(hop.Fields)+i] = other[to.Index(f.Field)]
				}
				rows = append(rows, matched)
			}
			if len(rows) == before {
				rows = append(rows, row)
			}
		}
		t.Rows = rows
	}}
}

// overwriting writes what a hop answers under a name of the table's own into the table's rows, for later queries.
func overwriting(tables func() []memsource.Table, into func(own wire.Column) bool) twist {
	var mu sync.Mutex
	kept := oracleTables(tables())
	return twist{seen: func(req *connector.Query) oracle.Tables {
		mu.Lock()
		defer mu.Unlock()
		now := maps.Clone(kept)
		if len(req.Joins) != 1 {
			return now
		}
		hop, base := req.Joins[0], *kept[req.Table]
		to := kept[hop.ToTable]
		from, key := base.Index(hop.FromField), to.Index(hop.ToField)
		for _, f := range hop.Fields {
			own := base.Index(f.As)
			if own < 0 || own == from || slices.Contains(base.PrimaryKey, f.As) || !into(base.Columns[own]) {
				continue
			}
			base.Rows = slices.Clone(base.Rows)
			for n, row := range base.Rows {
				base.Rows[n] = slices.Clone(row)
				base.Rows[n][own] = wire.Null()
				at := slices.IndexFunc(to.Rows, func(other []wire.Value) bool { return oracle.Same(row[from], other[key], wire.TypeString) })
				if at >= 0 && !row[from].IsNull() {
					base.Rows[n][own] = to.Rows[at][to.Index(f.Field)]
				}
			}
		}
		kept[req.Table] = &base
		return now
	}}
}

// oddJoins returns what is odd about joins: connectors that refuse those that the protocol does not say all must take.
func oddJoins() []oddity {
	refusing := func(status int, code string, refused func(body map[string]any, hop map[string]any) bool) func() http.Handler {
		return over(hotel, refusesWhere(status, code, "no such join", func(r *http.Request, text []byte) bool {
			body := parsed(text)
			return mayAsk(r) && slices.ContainsFunc(listOf(body, "joins"), func(hop map[string]any) bool { return refused(body, hop) })
		}))
	}
	own := func(body map[string]any, hop map[string]any) bool {
		i := slices.IndexFunc(hotelTables(0), func(t memsource.Table) bool { return t.Name == body["table"] })
		return i >= 0 && slices.ContainsFunc(listOf(hop, "fields"), func(f map[string]any) bool {
			name, _ := f["as"].(string)
			return hotelTables(0)[i].Field(name) != nil
		})
	}
	undeclared := func(body map[string]any, hop map[string]any) bool {
		for _, t := range hotelTables(0) {
			for _, key := range t.ForeignKeys {
				if t.Name == hop["fromTable"] && key.Field == hop["fromField"] && key.TargetTable == hop["toTable"] {
					return false
				}
			}
		}
		return true
	}
	some := func(g *grading) { g.Match = "^M2[127]$" } // so that few requests suffice for all joins
	return []oddity{
		{name: "a joined column may not have a name of the table's own", why: "two columns of one name are refused",
			build: refusing(400, "bad_request", own), options: some},
		{name: "only declared foreign keys are joined", why: "another join may be refused as unsupported",
			build: refusing(422, "unsupported", undeclared), options: some},
	}
}
