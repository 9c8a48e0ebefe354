package browsertest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestKeyboardConnect connects from an empty form to the verdict. A button that cannot be pressed yet
// is reached all the same, and leads to the reason.
func TestKeyboardConnect(t *testing.T) {
	url, bodies := serve(t, http.StripPrefix("/shop", good(t)))
	b := open(t, nil)
	b.picture("empty")
	b.says("read-why", "Type the base URL and the token.")
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
	b.tabTo("Bearer token", -2)
	b.press(token, kb.Enter)
	b.says("message", "No connector answers at this address.")
	require.Equal(t, "Bearer token", b.focused())
	require.Equal(t, url, value[string](b, `byId("url").value`), "it was completed")
	b.picture("no-connector")
	b.tabTo("Base URL", -2)
	b.press(kb.End, "/shop", kb.Enter)
	b.says("slug", "little-shop")
	require.Equal(t, "API key", b.focused(), "the focus goes on to the first credential")
	require.Equal(t, url+"/shop", value[string](b, `byId("url").value`))
	b.fill("url", strings.TrimPrefix(url, "http://")+"/shop/")
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "credential-0"`) // Enter reads again, for the focus was in the form above
	b.says("message", "takes the token")
	b.says("warning", "The platform would refuse this address")
	b.tabTo("Test connection", 4) // the link of the help lies between
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "test-why"`)
	require.Equal(t, "API key is required.", b.focused())
	b.tabTo("API key", -6)
	b.press("wrong-key", kb.Enter)
	b.says("message", "Account is required.")
	b.tabTo("Account", 2)
	sent := len(bodies())
	b.press("account-one", kb.Enter)
	b.says("message", `The shop says: "unknown key". Ask <Zoë>.`)
	require.Len(t, bodies()[sent:], 1, "nothing is graded with wrong credentials")
	require.Equal(t, "Account", b.focused())
	b.tabTo("Certificate (optional)", 1)
	b.press("line one", kb.Enter, "line two")
	b.tabTo("API key", -3)
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
	b.tabTo("Ask", -1)
	b.press(kb.Enter)
	require.Equal(t, "once connected", b.focused())
	require.True(t, value[bool](b, `byId("panel-connection").checkVisibility()`))
}

// TestKeyboardVerdict goes from the status to the findings of a connector that fails, and verifies again.
func TestKeyboardVerdict(t *testing.T) {
	var mended atomic.Bool
	url, bodies := serve(t, broken(good(t), &mended))
	b := open(t, withToken, "-local", "-name", "Broken shop", url)
	require.Equal(t, "Read connector", b.focused(), "the rest was given on the command line")
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "credential-0"`)
	b.press("secret-key-two")
	b.tabTo("Account", 2)
	b.press("account-two", kb.Enter)
	b.until(`document.activeElement.id === "reconnect"`)
	b.until(`byId("status") !== null`)
	b.tabUntil(`document.activeElement.id === "status"`, -1)
	b.says("chip", "failed conformance")
	b.until(`document.querySelector("#chip button").title.length > 10`) // the detail of the first failure
	require.Equal(t, "failed conformance", b.focused(), "the status is rendered anew, and keeps the focus")
	b.tabTo("Tables", 3)
	b.press(kb.Enter)
	b.until(`byId("panel-tables").checkVisibility()`)
	b.tabTo("failed conformance", -3)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "verdict" && byId("verdict").checkVisibility()`)
	b.tabTo("Verify again", 1)
	b.tabTo("Report as a page", 1)
	require.Contains(t, b.saves(func() { b.press(kb.Enter) }), "exact size")
	b.tabTo("as JSON", 1)
	require.Contains(t, b.saves(func() { b.press(kb.Enter) }), `"exit"`)

	b.press(kb.Tab, kb.Enter)
	b.until(`document.activeElement.closest(".failed").querySelector("blockquote cite").checkVisibility()`) // the rulebook is quoted
	for _, text := range []string{"Request", "curl -sS", "$CONNECTOR_CREDENTIALS"} {
		b.says("verdict", text)
	}
	b.picture("failed")
	b.press(kb.Enter) // closes it
	for _, c := range []struct{ group, class, cure string }{
		{"has to be mended first", "skipped", "Mend what blocks it"},
		{"of advice", "advice", "What to do"},
		{"nothing here to try them on", "skipped", "once there is what it lacks"},
		{"an option of the program", "skipped", "an option of the program conform"},
	} {
		b.script(`[...document.querySelectorAll("#verdict .section > summary")].find((s) => s.innerText.includes(%q)).focus()`, c.group)
		b.press(kb.Enter, kb.Tab, kb.Enter)
		b.until(`document.activeElement.parentElement.matches("details." + ` + quoted(c.class) + `)`)
		b.until(fmt.Sprintf(`document.activeElement.parentElement.querySelector(".fix").innerText.includes(%q)`, c.cure))
		require.True(t, value[bool](b, `document.activeElement.parentElement.querySelector("cite").checkVisibility()`), "its rule")
		if c.group == "has to be mended first" {
			b.picture("blocked")
		}
	}

	mended.Store(true)
	sent := len(bodies())
	b.tabTo("Verify again", -40)
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "verdict"`) // there is nothing to press while it runs
	b.says("changes", "an exact size is the number of streamed rows: fail → pass")
	require.Equal(t, "Verify again", b.focused(), "it is there again")
	b.says("chip", "conformant")
	require.Contains(t, strings.Join(bodies()[sent:], ""), "secret-key-two", "with the credentials that were typed before")
	b.picture("verified-again")
	b.click("[data-post=verify]")
	b.says("changes", "Nothing has changed since the last run.")
	b.keepsSecret(token, "secret-key-two", "account-two")
}

// TestKeyboardAsk builds questions, asks them, and stops one.
func TestKeyboardAsk(t *testing.T) {
	shop := good(t)
	url, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == wire.PathQuery && bytes.Contains(testkit.Body(r), []byte(`"value":"slow"`)) {
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
	b.tabTo("Value", -24)
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
	b.tabTo("Value", -30)
	b.tabTo("Column", -2)
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
