package killtest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ticketData returns the data of a help desk, by chance, at most so many tickets: what
// people type, with the cases and characters that get lost on the way to a vendor.
func ticketData(seed uint64, tickets int) (list []wire.Table, tables oracle.Tables) {
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	optional := func(v wire.Value, in int) wire.Value {
		if random.IntN(in) == 0 {
			return wire.Null()
		}
		return v
	}
	first := time.Date(2024, 2, 27, 21, 59, 58, 0, time.UTC)
	var agents, all [][]wire.Value
	for i := range 30 {
		agents = append(agents, []wire.Value{
			wire.Int(int64(100 + i)), wire.Text(pick("Ann", "ann", "Zoë", "O'Neil", "Bo", "Li", "Ünal") + fmt.Sprint(i%7)),
			wire.Bool(random.IntN(3) > 0), optional(wire.Text(pick("DE", "FR", "US", "de")), 6),
		})
	}
	for i := range tickets {
		opened := first.Add(time.Duration(random.IntN(60*24*3600)) * time.Second).Add(time.Duration(250*random.IntN(4)) * time.Millisecond)
		if random.IntN(6) == 0 {
			opened = opened.Truncate(24 * time.Hour)
		}
		all = append(all, []wire.Value{
			wire.Int(int64(1000 + 3*i)),
			wire.Text(pick("open", "Open", "closed", "Closed", "on hold", "new")),
			optional(wire.Text(pick("", "mail", "phone", "Web", "web form")), 5),
			optional(wire.Int(int64(100+random.IntN(34))), 7),
			optional(wire.Decimal(fmt.Sprintf("%d.%02d", random.IntN(200)-40, random.IntN(8)*5)), 8),
			wire.Int(int64(random.IntN(120))),
			optional(wire.DatetimeWidth(opened, 3), 9),
			optional(wire.Date(opened.AddDate(0, 0, random.IntN(20))), 4),
			wire.Text(pick("100% lost", "a_b error", "axb error", `C:\temp full`, "it's late", "Printer & scanner", "Größe falsch",
				"login, again", "refund 5+5", "printer") + pick("", "", " "+fmt.Sprint(random.IntN(40)))),
			optional(wire.Text(fmt.Sprintf("%03d", random.IntN(60))), 10),
			optional(wire.Array(wire.Text(pick("red", "Red", "blue")), wire.Text(pick("vip", "late"))), 6),
			wire.Bool(random.IntN(2) == 0),
		})
	}
	list = []wire.Table{
		{
			Name: "tickets", SourceDescription: "What people ask.", StoresRows: true, PrimaryKey: []string{"id"},
			ForeignKeys: []wire.ForeignKey{{Field: "agent", TargetTable: "agents", TargetField: "id"}},
			Fields: fieldsOf("id number!", "status string", "channel string?", "agent number?", "cost decimal?", "minutes number",
				"opened datetime?", "due date?", "subject string", "code reference?", "tags array?", "urgent boolean"),
		},
		{
			Name: "agents", SourceDescription: "Who answers.", StoresRows: true, PrimaryKey: []string{"id"},
			Fields: fieldsOf("id number!", "name string", "active boolean", "country string?"),
		},
	}
	tables = oracle.Tables{}
	for i, rows := range [][][]wire.Value{all, agents} {
		t := &list[i]
		for f := range t.Fields {
			t.Fields[f].SourceColumn, t.Fields[f].Samples = t.Fields[f].Name, []wire.Value{}
		}
		tables[t.Name] = &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: rows}
	}
	return list, tables
}

// ticketConnector returns the connector of a help desk with one thing twisted.
func ticketConnector(w twist, seed uint64, tickets int) http.Handler {
	list, tables := ticketData(seed, tickets)
	return (&oracleSource{twist: w, tables: tables, list: list}).serve()
}

// onField narrows a hook on filters to one field, and to some operators if any are given.
func onField(field string, wrong func(cell wire.Value, f wire.Filter, t wire.Type, right bool) bool, ops ...wire.Op) twist {
	return twist{match: func(_ string, cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
		if f.Field == field && (len(ops) == 0 || slices.Contains(ops, f.Op)) {
			return wrong(cell, f, t, right)
		}
		return right
	}}
}

// asType compares as a column of another type does.
func asType(other wire.Type) func(cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
	return func(cell wire.Value, f wire.Filter, _ wire.Type, _ bool) bool { return oracle.Match(cell, f, other) }
}

// pushed is a twist of the operands of one field, before they reach the source, by operators; none means all.
func pushed(field string, change func(wire.Filter) wire.Filter, ops ...wire.Op) twist {
	return onField(field, func(cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
		if len(ops) > 0 && !strings.Contains(fmt.Sprint(ops), string(f.Op)) {
			return right
		}
		return oracle.Match(cell, change(f), t)
	})
}

// TestLiveSize measures a live run over twelve tables of 10,000 rows each, over a real
// connection. It runs when it is asked for.
func TestLiveSize(t *testing.T) {
	if os.Getenv("CONFORMANCE_SIZE") == "" {
		t.Skip("measures; set CONFORMANCE_SIZE=1")
	}
	var tables []memsource.Table
	for i := range 12 {
		list, rows := ticketData(uint64(i+1), 10_000)
		list[0].Name, list[0].ForeignKeys = fmt.Sprintf("tickets%d", i), nil
		tables = append(tables, memsource.Table{Table: list[0], Rows: rows["tickets"].Rows})
	}
	report := gradeOverTCP(t, plain(tables...), with(live))
	report.nothingFound(t, "the data are large")
	t.Log(report.Coverage().Requests, "requests", report.Coverage().Rows, "rows", report.Duration)
}
