package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ledger is a connector with fourteen tables. One has several pages of rows and a column in which
// nothing stands, one has several pages and no key, and one has forty columns.
func ledger(t *testing.T) http.Handler {
	invoices := cells.TableOf(t, "invoices", "id:number*! customer:string? amount:decimal memo:string?")
	for i := range int64(120) {
		customer := wire.Text([]string{"Brown, \"Bob\"", "Ångström", "Ng"}[i%3])
		if i == 51 {
			customer = wire.Null()
		}
		invoices.Rows = append(invoices.Rows, []wire.Value{
			wire.Int(998 + i), customer, wire.Decimal(fmt.Sprintf("%d.50", 1200000+i)), wire.Null()})
	}
	tables := []memsource.Table{invoices}
	for i := range 11 {
		tables = append(tables, cells.TableOf(t, fmt.Sprint("archive_", 2000+i),
			fmt.Sprintf("id:number*! total_%d:decimal | 1 decimal:1.10", 2000+i)))
	}
	journal := cells.TableOf(t, "journal", "entry:string")
	for i := range 60 {
		journal.Rows = append(journal.Rows, []wire.Value{wire.Text(fmt.Sprint("entry ", i%7))})
	}
	wide := cells.TableOf(t, "measurements_of_the_plant", "sensor:number*!")
	wide.SourceDescription = "One row for each sensor; the columns are its readings of the last weeks."
	for i, row := 0, make([]wire.Value, 40); i < 3; i++ {
		for n := range row {
			row[n] = wire.Decimal(fmt.Sprintf("%d.%03d", i*1000+n, n))
		}
		row[0] = wire.Int(int64(i))
		wide.Rows = append(wide.Rows, slices.Clone(row))
	}
	for n := 1; n < 40; n++ {
		wide.Fields = append(wide.Fields, wire.Field{Name: fmt.Sprintf("average_of_calendar_week_%d", n), Type: wire.TypeDecimal,
			SourceDescription: "Mean over the week, in degrees Celsius."})
	}
	return connectors.New(token, connector.Definition{Slug: "ledger"}, connectors.Tables(append(tables, journal, wide)...), connectors.Quiet())
}

// TestTables searches tables, turns pages, makes a filter of a cell and saves the answer, without a mouse where a person
// can do without.
func TestTables(t *testing.T) {
	url, _ := serve(t, ledger(t))
	b := open(t, withToken, "-local", url)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "connect"`)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "reconnect"`)
	b.tabTo("Tables", 2)
	b.press(kb.Enter)
	b.says("table-found", "14 tables")
	b.tabTo("Search", 2)
	b.press("journal")
	b.says("table-found", "1 table")
	b.says("size-12", "60 rows")
	b.tabUntil(`document.activeElement.innerText.startsWith("journal")`, 1)
	b.press(kb.Enter)
	b.says("rows-12", "No key or column is sure to tell the rows of this table apart")
	b.tabTo("Search", -1)
	b.press(kb.Escape)
	b.says("table-found", "14 tables")
	const seen = `[...document.querySelectorAll("#panel-tables > .table")].filter((t) => t.checkVisibility()).length === `
	for _, c := range []struct{ search, tables string }{
		{"2004", "1"}, {"TOTAL_", "11"}, {"nothing of this name", "0"}, {"plant", "1"}, // by the names of columns too
	} {
		b.fill("table-search", c.search)
		b.until(seen + c.tables)
	}
	b.tabUntil(`document.activeElement.innerText.startsWith("measurements_of_the_plant")`, 1)
	b.press(kb.Enter)
	b.says("rows-13", "3 rows")
	b.picture("wide")
	b.fill("table-search", "invoices")
	b.until(seen + "1")
	b.tabUntil(`document.activeElement.innerText.startsWith("invoices")`, 1)
	b.press(kb.Enter)
	b.says("rows-0", "rows 1 to 50")
	b.says("rows-0", "nothing stands in memo")
	require.Equal(t, []string{"id", "customer", "amount"},
		value[[]string](b, `[...document.querySelectorAll("#rows-0 th")].map((e) => e.innerText)`), "the empty column is hidden")
	const third = `[...document.querySelectorAll("#rows-0 tbody tr:nth-of-type(3) td")]`
	require.Equal(t, []string{"1000", "Ng", "1,200,002.50"},
		value[[]string](b, third+`.map((e) => e.innerText)`))
	require.Equal(t, []string{"right", "left", "right"},
		value[[]string](b, third+`.map((e) => getComputedStyle(e).textAlign.replace("start", "left"))`),
		"numbers and decimals alike")
	for _, text := range []string{
		"What tells rows apart", "Rows, as the connector says", "3 different, 0.833 % empty, from Brown", "may be empty"} {
		b.says("panel-tables", text)
	}
	b.picture("table")
	b.viewport(390, false)
	require.True(t, value[bool](b, `[...document.querySelectorAll("#panel-tables details[open] .fields td")]
		.every((e) => e.getBoundingClientRect().right <= innerWidth)`),
		"statistics and samples are read without scrolling")
	b.viewport(1280, false)
	b.tabTo("Find out", 1)
	b.press(kb.Enter)
	b.says("grain-0", "id: it is never empty")
	require.Equal(t, "id: it is never empty, and no value stands in it twice", b.focused(), "the figure takes the place of its button")
	b.tabTo("Next rows", 12)
	b.press(kb.Enter)
	b.says("rows-0", "rows 51 to 100, in the order of id")
	require.Equal(t, "Next rows", b.focused(), "the same button leads on")
	b.press(kb.Enter)
	b.says("rows-0", "rows 101 to 120")
	require.Equal(t, "Previous rows", b.focused(), "there is no other")
	require.Equal(t, 1, value[int](b, `document.querySelectorAll("#rows-0 [data-focus]").length`), "there is no further page")
	b.press(kb.Enter)
	b.says("rows-0", "rows 51 to 100")
	require.Equal(t, "Previous rows", b.focused())

	b.tabTo("1048", -2) // one stop for all cells
	b.press(kb.ArrowDown, kb.ArrowRight)
	require.Equal(t, "null", b.focused())
	b.press(kb.Enter)
	b.asks(`"op": "isnull"`)
	require.Equal(t, "is empty", value[string](b, `document.querySelector(".filter select:nth-of-type(2)").selectedOptions[0].innerText`))
	b.says("ask-rows", "1 row")
	require.Equal(t, "Column", b.focused(), "in the filter that was added")
	b.tabTo("Save as CSV", 24)
	require.Equal(t, "id,customer,amount,memo\n1049,,1200051.50,\n", b.saves(func() { b.press(kb.Enter) }))
	b.says("ask-saved", "Saved.")
	require.Equal(t, "Save as CSV", b.focused())
	b.click("[data-panel=tables]")
	b.script(`[...document.querySelectorAll("#rows-0 .pick")].find((e) => e.innerText.startsWith("Brown")).click()`)
	b.until(`byId("ask-run").textContent === "Ask" && byId("ask-rows")?.innerText.includes("39 rows")`)
	require.Equal(t, 1, value[int](b, `document.querySelectorAll("#ask-and .filter").length`), "another value takes the place of the first")
	b.script(`[...document.querySelectorAll("#ask-rows .pick")].find((e) => e.innerText === "1,200,003.50").click()`)
	b.until(`byId("ask-run").textContent === "Ask" && /\b1 row\b/.test(byId("ask-rows")?.innerText)`)
	require.Equal(t, "id,customer,amount,memo\n1001,\"Brown, \"\"Bob\"\"\",1200003.50,\n", b.saves(func() { b.click("#ask-save") }))
	b.picture("picked")
	b.keepsSecret(token)
}

// TestManyTables looks at 200 tables without rows, at cells that are longer than what is shown, and
// at an answer that breaks off.
func TestManyTables(t *testing.T) {
	wide := memsource.Table{Table: wire.Table{Name: "wide", StoresRows: true, PrimaryKey: []string{"id"}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber}, {Name: "text", Type: wire.TypeString}}}}
	for i := range int64(2000) {
		wide.Rows = append(wide.Rows, []wire.Value{wire.Int(i), wire.Text(strings.Repeat("wörd ", 200))})
	}
	tables := []memsource.Table{wide}
	for i := range 200 {
		tables = append(tables, memsource.Table{Table: wire.Table{Name: fmt.Sprint("table_", i), StoresRows: true,
			Fields: []wire.Field{{Name: "x", Type: wire.TypeString, Nullable: true}, {Name: "day", Type: wire.TypeDate}}}})
	}
	h := connectors.New(token, connector.Definition{Slug: "many"}, connectors.Tables(tables...), connectors.Quiet())
	var stops atomic.Bool
	url, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !stops.Load() || r.URL.Path != wire.PathQuery {
			h.ServeHTTP(w, r)
			return
		}
		whole := httptest.NewRecorder()
		h.ServeHTTP(whole, r)
		w.Header().Set("Content-Type", terms.MediaNDJSON)
		_, _ = w.Write(whole.Body.Bytes()[:100_000])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	b := open(t, withToken, "-local", url)
	b.click("#read")
	b.says("fields", "asks for no credentials")
	b.click("#connect")
	b.click("[data-panel=tables]")
	b.says("table-found", "201 tables")
	b.says("size-200", "0 rows")
	b.fill("table-search", "table_7")
	b.says("table-found", "11 tables")
	b.script(`document.querySelector("#panel-tables > .table:not([hidden]) summary").click()`)
	b.says("rows-8", "0 rows")
	b.click("#grain-8 button")
	b.says("grain-8", "there are no rows")
	b.picture("no-rows")
	b.fill("table-search", "wide")
	b.click("#panel-tables details summary")
	b.says("rows-0", "rows 1 to 50")
	b.picture("long-cells")

	stops.Store(true)
	b.click("[data-panel=ask]")
	b.pick("#ask-limit", "")
	b.click("#ask-run")
	b.says("ask-rows", "The answer ended before it was complete.")
	b.picture("broken-off")
	b.keepsSecret(token)
}
