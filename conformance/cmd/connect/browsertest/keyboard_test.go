package browsertest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestKeyboardConnect connects from an empty form to the verdict. A button that cannot be pressed yet
// is reached all the same, and leads to the reason.
func TestKeyboardConnect(t *testing.T) {
	url, bodies := serve(t, http.StripPrefix("/shop", good(t)))
	b := open(t, nil)
	b.picture("empty")
	require.Equal(t, "Name", b.focused())
	b.press("Little shop")
	b.tabTo("Base URL", 1)
	b.press(strings.TrimPrefix(url, "http://"), kb.Enter)
	b.says("message", "Type the token.")
	require.Equal(t, "Base URL", b.focused(), "who types goes on typing")
	b.tabTo("Local work: allow plain http and addresses in a private network", 1)
	b.press(" ")
	b.tabTo("Bearer token", 1)
	b.tabTo("Read connector", 1)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "read-why"`)
	require.Equal(t, "Type the token.", b.focused())
	b.back("Bearer token", 2)
	b.press(token, kb.Enter)
	b.says("message", "No connector answers at this address.")
	require.Equal(t, "Bearer token", b.focused())
	b.back("Base URL", 2)
	b.press(kb.End, "/shop", kb.Enter)
	b.says("slug", "little-shop")
	b.says("warning", "The platform would refuse this address")
	require.Equal(t, "API key", b.focused(), "the focus goes on to the first credential")
	b.tabTo("Test connection", 4) // the link of the help lies between
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "test-why"`)
	require.Equal(t, "API key is required.", b.focused())
	b.back("API key", 6)
	b.press("wrong-key")
	b.tabTo("Account", 2)
	sent := len(bodies())
	b.press("account-one", kb.Enter)
	b.says("message", `The shop says: "unknown key". Ask <Zoë>.`)
	require.Len(t, bodies()[sent:], 1, "nothing is graded with wrong credentials")
	require.Equal(t, "Account", b.focused())
	b.tabTo("Certificate (optional)", 1)
	b.press("line one", kb.Enter, "line two")
	b.back("API key", 3)
	b.press("secret-key-one")
	b.picture("form")
	b.tabTo("Test connection", 4)
	b.press(kb.Enter)
	b.says("message", "The connector takes the credentials.")
	require.Equal(t, "Connect", b.focused())
	b.press(kb.Enter)
	b.says("chip", "conformant")
	require.Equal(t, "Reconnect", b.focused())
	b.says("title", "Little shop")
	b.picture("conformant")
	b.press(kb.Enter)
	b.until(`byId("connect-form").checkVisibility()`)
	require.Equal(t, "Read connector", b.focused())
	b.keepsSecret(token, "wrong-key", "secret-key-one", "account-one", "line two")
}

// TestKeyboardUnconnected presses a panel that has nothing to show yet.
func TestKeyboardUnconnected(t *testing.T) {
	b := open(t, nil)
	b.back("Ask", 1)
	b.press(kb.Enter)
	require.Equal(t, "once connected", b.focused())
	require.True(t, value[bool](b, `byId("panel-connection").checkVisibility()`))
}

// TestKeyboardVerdict goes from the status to the findings, and verifies again.
func TestKeyboardVerdict(t *testing.T) {
	var mended atomic.Bool
	url, _ := serve(t, broken(good(t), &mended))
	b := open(t, withToken, "-local", url)
	require.Equal(t, "Read connector", b.focused())
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "credential-0"`)
	b.press("secret-key-two")
	b.tabTo("Account", 2)
	b.press("account-two", kb.Enter)
	b.until(`document.activeElement.id === "reconnect"`)
	b.until(`byId("status") !== null`)
	b.backUntil(`document.activeElement.id === "status"`, 1)
	b.says("chip", "failed conformance")
	require.Equal(t, "failed conformance", b.focused(), "the status is rendered anew, and keeps the focus")
	b.tabTo("Tables", 3)
	b.press(kb.Enter)
	b.until(`byId("panel-tables").checkVisibility()`)
	b.back("failed conformance", 3)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "verdict" && byId("verdict").checkVisibility()`)
	b.tabTo("Verify again", 1)
	b.tabTo("Report as a page", 1)
	require.Contains(t, b.saves(func() { b.press(kb.Enter) }), "exact size")
	b.tabTo("as JSON", 1)
	require.Contains(t, b.saves(func() { b.press(kb.Enter) }), `"exit"`)

	b.press(kb.Tab, kb.Enter)
	b.until(`document.activeElement.closest(".failed").querySelector("blockquote cite").checkVisibility()`)
	b.press(kb.Enter) // closes it
	for _, class := range []string{"advice", "skipped"} {
		b.tabUntil(`document.activeElement.nextElementSibling?.matches("details.finding.`+class+`")`, 12)
		b.press(kb.Enter, kb.Tab, kb.Enter)
		b.until(`document.activeElement.parentElement.querySelector(".fix").checkVisibility()`)
	}

	mended.Store(true)
	b.back("Verify again", 40)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "verdict"`) // there is nothing to press while it runs
	b.says("changes", "an exact size is the number of streamed rows: fail → pass")
	require.Equal(t, "Verify again", b.focused(), "it is there again")
	b.keepsSecret(token, "secret-key-two", "account-two")
}

// TestKeyboardTables searches, turns pages, and goes from a cell to an answer that is saved.
func TestKeyboardTables(t *testing.T) {
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
	b.back("Search", 1)
	b.press(kb.Escape)
	b.says("table-found", "14 tables")
	b.press("invoices")
	b.says("table-found", "1 table")
	b.tabUntil(`document.activeElement.innerText.startsWith("invoices")`, 1)
	b.press(kb.Enter)
	b.says("rows-0", "rows 1 to 50")
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
	b.press(kb.Enter)
	b.says("rows-0", "rows 51 to 100")
	require.Equal(t, "Previous rows", b.focused())
	b.back("1048", 2) // one stop for all cells
	b.press(kb.ArrowDown, kb.ArrowRight)
	require.Equal(t, "null", b.focused())
	b.press(kb.Enter)
	b.asks(`"op": "isnull"`)
	b.says("ask-rows", "1 row")
	require.Equal(t, "Column", b.focused(), "in the filter that was added")
	b.tabTo("Save as CSV", 24)
	require.Equal(t, "id,customer,amount,memo\n1049,,1200051.50,\n", b.saves(func() { b.press(kb.Enter) }))
	b.says("ask-saved", "Saved.")
	require.Equal(t, "Save as CSV", b.focused())
	b.keepsSecret(token)
}

// TestKeyboardAsk builds questions, asks them, and stops one.
func TestKeyboardAsk(t *testing.T) {
	shop := good(t)
	url, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.URL.Path == wire.PathQuery && strings.Contains(string(body), `"value":"slow"`) {
			<-r.Context().Done()
			return
		}
		shop.ServeHTTP(w, r)
	}))
	b := open(t, withToken, "-local", url)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "credential-0"`)
	b.press("secret-key-three")
	b.tabTo("Account", 2)
	b.press("account-three", kb.Enter)
	b.until(`document.activeElement.id === "reconnect"`)
	b.tabTo("Ask", 3)
	b.press(kb.Enter)
	b.asks(`"table": "customers"`)
	b.tabTo("Table", 1)
	b.press("o") // the option that begins so
	b.asks(`"table": "orders"`)
	b.press(kb.Tab, kb.Enter) // in the first choice, Enter asks
	b.says("ask-rows", "100 rows")
	b.tabTo("Add a filter", 1)
	b.press(kb.Enter)
	require.Equal(t, "Column", b.focused())
	b.press("i") // id
	b.tabTo("Value", 2)
	b.press("many", kb.Enter)
	b.until(`byId("ask-problem").className === "note bad"`)
	b.says("ask-problem", "is a number")
	require.Equal(t, "Value", b.focused())
	b.tabTo("Ask", 24)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "ask-problem"`)
	b.back("Value", 24)
	b.script(`document.activeElement.select()`)
	b.press("1007", kb.Enter)
	b.says("ask-rows", "1 row")
	b.tabTo("Remove", 1)
	b.press(kb.Enter)
	require.Equal(t, "Add a filter", b.focused())
	for _, c := range []struct{ button, added string }{
		{"Add a group", "Column"}, {"Add a column to order by", "Sort by"}, {"Add a linked table", "Linked by"},
	} {
		b.tabTo(c.button, 16)
		b.press(kb.Enter)
		require.Equal(t, c.added, b.focused(), "the focus is in what was added")
	}
	b.back("Value", 30)
	b.back("Column", 2)
	b.press("s") // status
	b.tabTo("Value", 2)
	b.press("slow")
	for _, text := range []string{`"or": [`, `"sort": [`, `"toTable": "customers"`} {
		b.asks(text)
	}
	b.press(kb.Enter)
	b.until(`byId("ask-run").textContent === "Stop" && byId("ask-lines")?.innerText.includes("slow")`)
	b.press(kb.Escape)
	b.says("ask-answer", "Stopped.")
	require.Equal(t, "Ask", value[string](b, `byId("ask-run").textContent`))
	require.Equal(t, "Value", b.focused())
	b.keepsSecret(token, "secret-key-three", "account-three")
}
