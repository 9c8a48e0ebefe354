// Package browsertest drives the page of the program connect in a headless Chromium. It is a
// module of its own, so that the library does not require a browser.
package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/stretchr/testify/require"
)

// program is the path of the built program, and allocator starts tabs of one browser.
var (
	program   string
	allocator context.Context
	skip      string // why the tests cannot run
)

func TestMain(m *testing.M) { os.Exit(start(m)) }

func start(m *testing.M) int {
	chromium := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	if chromium == "" {
		skip = "no Chromium on the PATH; on Debian: apt-get install chromium"
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "connect")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "connect")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		log.Fatalf("%v\n%s", err, out)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(chromium), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true))
	exec, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	first, end := chromedp.NewContext(exec)
	defer end()
	if err := chromedp.Do(first); err != nil {
		log.Fatalf("%s does not start: %v", chromium, err)
	}
	allocator = first
	return m.Run()
}

// tab is the page of one running program in a browser, with everything that it has sent and said.
type tab struct {
	t       *testing.T
	ctx     context.Context
	address string

	mu       sync.Mutex
	requests []*network.Request
	console  []string
	saved    []string    // files
	printed  testkit.Log // what the program prints
}

// open starts the program and opens its page.
func open(t *testing.T, environment []string, args ...string) *tab {
	t.Helper()
	if skip != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(skip)
		}
		t.Skip(skip)
	}
	b := &tab{t: t}
	process, kill := context.WithCancel(context.Background())
	cmd := exec.CommandContext(process, program, args...)
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PLATFORM_CONNECTOR_TOKEN=") })
	cmd.Env = append(own, environment...)
	out := testkit.Must(cmd.StdoutPipe())(t)
	cmd.Stderr = &b.printed
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { kill(); _ = cmd.Wait() })
	reader := bufio.NewReader(out)
	line := testkit.Must(reader.ReadString('\n'))(t)
	go func() { _, _ = io.Copy(&b.printed, reader) }()
	_, rest, _ := strings.Cut(line, "Open ")
	b.address, _, _ = strings.Cut(rest, " ")

	ctx, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	ctx, end := context.WithTimeout(ctx, 5*time.Minute) // axe takes its time
	t.Cleanup(end)
	b.ctx = ctx
	require.NoError(t, chromedp.Listen(ctx, b.record))
	testkit.Must(chromedp.Call(ctx, network.Enable, network.EnableParams{}))(t)
	b.viewport(1280, false)
	b.do(chromedp.Navigate(b.address))
	b.until(`document.activeElement.closest("form") !== null`)
	return b
}

// record keeps what the page sends, and what it complains of.
func (b *tab) record(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request)
	case *runtime.EventExceptionThrown:
		b.console = append(b.console, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.console = append(b.console, string(e.Type))
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.check(chromedp.Do(b.ctx, actions...))
}

// check ends the test if the browser cannot do what was asked.
func (b *tab) check(err error) {
	b.t.Helper()
	if err != nil {
		shown, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body.innerText`))
		b.t.Fatalf("%v\nthe page shows:\n%s\nconsole: %v", err, shown, b.console)
	}
}

// value returns the value of an expression.
func value[T any](b *tab, expression string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, options...))
	b.check(err)
	return v
}

// script runs statements.
func (b *tab) script(format string, args ...any) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("{"+format+"}", args...)))
}

// until waits for an expression to be true.
func (b *tab) until(expression string) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(20*time.Second),
		chromedp.WithPollingInterval(20*time.Millisecond))); err != nil {
		b.check(fmt.Errorf("waiting for %s: %w", expression, err))
	}
}

// says waits until an element shows a text.
func (b *tab) says(id, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(document.getElementById(%q)?.innerText ?? "").includes(%s)`, id, quoted(text)))
}

// asks waits until the question of the panel Ask is a request with a text in it, shown or not.
func (b *tab) asks(text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`byId("ask-json")?.textContent.includes(%s)`, quoted(text)))
}

func quoted(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(q)
}

// press presses keys, as a person without a mouse does.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// tabTo presses Tab until the element with that accessible name has the focus, and fails if more than
// so many elements lie between. It goes backwards for a negative number.
func (b *tab) tabTo(name string, most int) {
	b.t.Helper()
	b.goTo(most, name, func() bool { return b.focused() == name })
}

// tabUntil does so until an expression is true of what has the focus.
func (b *tab) tabUntil(expression string, most int) {
	b.t.Helper()
	b.goTo(most, expression, func() bool { return value[bool](b, "Boolean("+expression+")") })
}

func (b *tab) goTo(most int, what string, there func() bool) {
	b.t.Helper()
	var modifier chromedp.Modifier
	if most < 0 {
		modifier = chromedp.ModifierShift
	}
	var passed []string
	for range max(most, -most) {
		b.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(modifier)))
		if there() {
			return
		}
		passed = append(passed, b.focused())
	}
	b.t.Fatalf("%q was not reached; passed %q", what, passed)
}

// focused returns the label of what has the focus, and requires that the focus can be seen.
func (b *tab) focused() string {
	b.t.Helper()
	type focus struct {
		Name    string
		Visible bool
	}
	at := value[focus](b, `(() => { const e = document.activeElement;
		const label = e.labels?.[0]?.innerText || e.ariaLabel || e.innerText || e.id;
		return {Name: label.trim(), Visible: e === document.body || getComputedStyle(e).outlineStyle !== "none"}; })()`)
	require.True(b.t, at.Visible, "the focus on %q cannot be seen", at.Name)
	return at.Name
}

// fill types into an element.
func (b *tab) fill(id, text string) {
	b.t.Helper()
	b.script(`const e = document.getElementById(%q); e.focus(); e.select();`, id)
	if text == "" {
		b.press(kb.Delete)
		return
	}
	b.press(text)
}

// click clicks the first element that a selector finds, once it can be clicked.
func (b *tab) click(selector string) {
	b.t.Helper()
	const ready = `(() => { const e = document.querySelector(%s); return e && !e.ariaDisabled && e.checkVisibility(); })()`
	b.until(fmt.Sprintf(ready, quoted(selector)))
	b.script(`document.querySelector(%s).click()`, quoted(selector))
}

// pick sets the value of the first element that a selector finds, as if it were chosen or typed.
func (b *tab) pick(selector, value string) {
	b.t.Helper()
	b.script(`const e = document.querySelector(%s); e.value = %s;
		e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true}));`,
		quoted(selector), quoted(value))
}

// saves returns the file that the browser has saved after something was done. keepsSecret looks into
// it.
func (b *tab) saves(do func()) string {
	b.t.Helper()
	dir := b.t.TempDir()
	_, err := chromedp.Call(b.ctx, browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir})
	b.check(err)
	do()
	for b.ctx.Err() == nil {
		files, err := os.ReadDir(dir)
		require.NoError(b.t, err)
		if len(files) == 1 && !strings.HasSuffix(files[0].Name(), ".crdownload") {
			text, err := os.ReadFile(filepath.Join(dir, files[0].Name()))
			require.NoError(b.t, err)
			b.saved = append(b.saved, string(text))
			return string(text)
		}
		value[bool](b, `new Promise((done) => requestAnimationFrame(() => done(true)))`, chromedp.EvalAwaitPromise)
	}
	b.check(b.ctx.Err())
	return ""
}

// viewport sets the size of the window and the colour scheme.
func (b *tab) viewport(width int64, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
	b.check(err)
	_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	b.check(err)
}

// picture requires that the page is readable at a narrow and a wide width, light and dark, and
// writes pictures of it into the folder that CONNECT_PICTURES names, to be looked at.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("CONNECT_PICTURES")
	for _, width := range []int64{390, 1280} {
		for _, dark := range []bool{false, true} {
			b.viewport(width, dark)
			fits := value[bool](b, `document.documentElement.scrollWidth <= innerWidth`)
			require.True(b.t, fits, "%s at %d px is wider than the window", name, width)
			b.accessible(fmt.Sprintf("%s at %d px, dark: %v", name, width, dark))
			if dir == "" {
				continue
			}
			b.script(`scrollTo(0, 0)`) // the header stays where it is seen
			png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			b.check(err)
			scheme := map[bool]string{false: "light", true: "dark"}[dark]
			file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
			require.NoError(b.t, os.WriteFile(file, png, 0o644))
		}
	}
	b.viewport(1280, false)
}

// accessible requires that axe finds no violation on the page. The variable CONNECT_AXE names its
// script, axe.min.js of the package axe-core; without it, nothing is required outside of CI.
func (b *tab) accessible(state string) {
	b.t.Helper()
	file := os.Getenv("CONNECT_AXE")
	if file == "" {
		require.NotEqual(b.t, "true", os.Getenv("CI"), "set CONNECT_AXE, as .ci/run does")
		return
	}
	if !value[bool](b, `"axe" in window`) {
		script, err := os.ReadFile(file)
		require.NoError(b.t, err)
		b.do(chromedp.Evaluate[chromedp.Void](string(script)))
	}
	found := value[string](b, `axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.help + "\n" +
		v.nodes.slice(0, 5).map((n) => "  " + n.html.slice(0, 200) + "\n  " + n.failureSummary).join("\n")).join("\n"))`,
		chromedp.EvalAwaitPromise)
	require.Empty(b.t, found, state)
}

// keepsSecret requires that none of the secrets is anywhere but in what was typed: in no address,
// no header, no request but those that carry the form, no storage, no page and no output.
func (b *tab) keepsSecret(secrets ...string) {
	b.t.Helper()
	kept := value[string](b, `(async () => document.documentElement.outerHTML + JSON.stringify([
		{...localStorage}, {...sessionStorage}, document.cookie, location.href, history.state,
		await indexedDB.databases(), await caches.keys()]))()`, chromedp.EvalAwaitPromise)
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.console, "the page complains")
	require.NotEmpty(b.t, b.requests)
	for _, secret := range secrets {
		require.NotContains(b.t, kept, secret, "the page or the browser's storage")
		require.NotContains(b.t, b.printed.String(), secret)
		require.NotContains(b.t, strings.Join(b.saved, ""), secret, "a file that was saved")
		for _, r := range b.requests {
			require.True(b.t, strings.HasPrefix(r.URL, b.address), "a request to %s", r.URL)
			require.NotContains(b.t, r.URL, secret)
			require.NotContains(b.t, fmt.Sprint(r.Headers), secret)
			if !strings.HasSuffix(r.URL, "/form") {
				for _, entry := range r.PostDataEntries {
					require.NotContains(b.t, string(entry.Bytes), secret, r.URL)
				}
			}
		}
	}
}
