package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

var withToken = []string{"PLATFORM_CONNECTOR_TOKEN=" + token}

// TestRefusals shows what the form says of connectors that cannot be connected.
func TestRefusals(t *testing.T) {
	url, bodies := serve(t, good(t))
	b := open(t, []string{"PLATFORM_CONNECTOR_TOKEN=another-token-0123456789abcdef-0123"}, "-local", url)
	b.click("#read")
	b.says("message", "The connector rejected the token")
	b.picture("rejected")

	b.fill("token", token)
	b.click("#read")
	b.says("slug", "little-shop")
	b.until(`document.getElementById("test").ariaDisabled && document.getElementById("connect").ariaDisabled`)
	b.fill("credential-0", "wrong-key")
	b.fill("credential-1", "account-one")
	b.click("#test")
	b.says("message", `The shop says: "unknown key". Ask <Zoë>.`)
	sent := len(bodies())
	b.click("#connect")
	b.until(`document.getElementById("connect").getAttribute("aria-busy") === null`)
	b.says("message", `The shop says: "unknown key". Ask <Zoë>.`)
	require.Len(t, bodies()[sent:], 1, "the credentials were tried, and nothing is graded with wrong ones")
	require.True(t, value[bool](b, `document.getElementById("verdict").childElementCount === 0 && byId("connect").checkVisibility()`))
	b.picture("wrong-credentials")

	b.script(`byId("token").value = "another"; byId("token").dispatchEvent(new Event("input", {bubbles: true})); byId("credential-0").focus()`)
	b.until(`document.getElementById("credentials").hidden`) // the document is forgotten
	require.Equal(t, "Read connector", b.focused(), "who was faster than the program is not lost")
	b.fill("token", token)
	b.click("#read")
	b.until(`!document.getElementById("test").ariaDisabled`) // what was typed is kept
	b.fill("url", url+"/elsewhere")
	b.until(`document.getElementById("credentials").hidden`)
	b.fill("url", url)
	sent = len(bodies())
	b.click("#read")
	b.says("slug", "little-shop")
	b.until(`document.getElementById("test").ariaDisabled && document.getElementById("credential-0").value === ""`) // all is forgotten
	for _, body := range bodies()[sent:] {
		require.NotContains(t, body, "wrong-key")
	}

	b.fill("url", "http://127.0.0.1:1") // nothing listens there
	b.click("#read")
	b.says("message", "no connection")
	b.picture("unreachable")
	b.click("#local")
	b.click("#read")
	b.says("message", "the platform would refuse this address")
	b.keepsSecret(token, "wrong-key")
}

// TestBare asks a connector that leaves everything to the platform.
func TestBare(t *testing.T) {
	url, _ := serve(t, bare(t))
	b := open(t, withToken, "-local", url)
	b.click("#read")
	b.says("fields", "asks for no credentials")
	b.click("#connect")
	b.says("chip", "conformant")
	b.click("[data-panel=tables]")
	b.says("panel-tables", "Two ports were left out")
	b.says("size-0", "3 rows")
	b.click("#panel-tables summary")
	b.click(`[data-measure*='"column"']`)
	b.says("column-0-0", "3 / 3")
	b.click(`[data-measure*='"grain"']`)
	b.says("grain-0", "port")
	b.click("[data-panel=ask]")
	b.click("#add-group")
	b.asks(`"or": [`)
	b.press(kb.Tab, kb.Tab, kb.Tab, kb.Tab, kb.Tab, kb.Enter) // the group's Remove
	require.Equal(t, "Add a group", b.focused())
	b.click("#add-filter")
	b.pick(".filter select", "metres")
	b.pick(".filter select:nth-of-type(2)", "gt")
	b.says("ask-problem", "type a value")
	require.Equal(t, "note", value[string](b, `byId("ask-problem").className`), "it is no error yet")
	b.script(`document.querySelector(".filter input").focus()`)
	b.press("-")
	b.says("ask-problem", "is a number")
	require.Equal(t, "note", value[string](b, `byId("ask-problem").className`), "it may become a number")
	b.press(kb.Tab)
	b.until(`byId("ask-problem").className === "note bad"`) // it has not
	require.True(t, value[bool](b, `byId("ask-run").ariaDisabled && byId("ask-problem").checkVisibility()`),
		"Ask says why it cannot be pressed")
	b.pick(".filter input", "1")
	b.click("#add-sort")
	b.asks(`"op": "gt"`)
	b.click("#ask-run")
	b.says("ask-rows", "2 rows")
	for _, text := range []string{"nothing", "filters, order, number of rows"} {
		b.says("ask-work", text)
	}
	b.says("ask-lines", "Calais")
	b.picture("finished")
	b.keepsSecret(token)
}

// TestTwoTenants connects two tenants one after the other, the latter with a second account. Nothing of the first is
// left.
func TestTwoTenants(t *testing.T) {
	url, bodies := serve(t, twoAccounts(t, "canary-three-account"))
	b := open(t, withToken, "-local", url)
	b.click("#read")
	b.says("slug", "little-shop")
	b.fill("credential-0", "canary-one-key")
	b.fill("credential-1", "canary-one-account")
	b.click("#connect")
	b.says("chip", "conformant")
	b.click("[data-panel=tables]")
	b.says("size-1", "300 rows")
	b.click("#panel-tables details:nth-of-type(2) summary")
	b.says("rows-1", "1000")
	b.picture("tables")
	b.click("[data-panel=ask]")
	b.pick("#ask-table", "orders")
	b.click("#add-filter")
	b.pick(".filter select", "status")
	b.pick(".filter input", "paid")
	b.click("#add-sort")
	b.click("#add-join")
	b.asks(`"toTable": "customers"`)
	b.click("#ask-request summary")
	b.says("ask-json", `"toTable": "customers"`)
	b.click("#ask-run")
	b.says("ask-rows", "rows")
	b.says("ask-work", "filters, linked tables, order, number of rows")
	for _, width := range []int64{1280, 390} {
		b.viewport(width, false)
		b.until(`byId("ask-run").textContent === "Ask"`) // while it asks, it stops
		b.script(`document.getElementById("ask-run").focus(); document.getElementById("ask-run").scrollIntoView({block: "end"})`)
		b.press(kb.Enter)
		b.until(`byId("ask-run").textContent === "Ask" && byId("ask-rows")?.querySelector("td")`)
		b.until(`(() => { const at = byId("ask-answer").getBoundingClientRect(); return at.top >= 0 && at.top < innerHeight / 2; })()`)
		require.Equal(t, width == 1280, value[bool](b,
			`byId("ask-answer").getBoundingClientRect().left > byId("ask-form").getBoundingClientRect().right`),
			"the answer stands beside the question where there is room, and below it where not")
		require.True(t, value[bool](b, `[...byId("ask-form").querySelectorAll("button")].at(-1).id === "ask-run"`), "Ask is at the form's end")
	}
	b.picture("ask")
	b.click("input[value=groups]")
	b.pick("#ask-groupby select", "status")
	b.click("#ask-run")
	b.says("ask-rows", "94")
	b.says("ask-work", "groups and figures")
	b.until(`byId("ask-run").textContent === "Ask"`)
	b.pick(".measure select", "avg")
	b.pick(".measure select:nth-of-type(2)", "total")
	b.asks(`"fn": "sum"`) // of which, and of the count, the platform takes the average
	b.click("#ask-run")
	b.says("ask-rows", "avg_total")
	require.NotEmpty(t, bodies())

	b.click("#reconnect")
	b.until(`!document.getElementById("connect-form").hidden && document.getElementById("credentials").hidden`)
	b.click("#read")
	b.says("slug", "little-shop")
	b.until(`document.getElementById("credential-0").value === "" && document.getElementById("test").ariaDisabled`)
	sent := len(bodies())
	b.fill("credential-0", "canary-two-key")
	b.fill("credential-1", "canary-two-account")
	hidden := value[bool](b, `!byId("second-0").checkVisibility()`)
	require.True(t, hidden, "who has one account is not asked for another")
	b.click("details.second summary")
	b.fill("second-0", "canary-three-key")
	b.fill("second-1", "canary-three-account")
	b.picture("second-account")
	b.click("#connect")
	b.until(`document.getElementById("connect-form").hidden`)
	b.says("chip", "conformant")
	b.says("verdict", "2 of 2 tables for both tenants")
	b.click("[data-panel=tables]")
	b.says("size-1", "300 rows")
	second := strings.Join(bodies()[sent:], "\n")
	require.Contains(t, second, "canary-two-key")
	require.Contains(t, second, "canary-three-key")
	require.NotContains(t, second, "canary-one")
	b.keepsSecret(token, "canary-one-key", "canary-one-account", "canary-two-key", "canary-two-account",
		"canary-three-key", "canary-three-account")
}
