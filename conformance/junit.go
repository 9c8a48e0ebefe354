package conformance

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
)

//go:embed report.xml
var junit string

// JUnit returns the report in the XML that CI servers show as test results: a suite
// for each phase, a case for each check. A skipped check is skipped and says why;
// advice is a passed case that has something to say. A run that is not green for
// another reason than a failed check, such as a problem or a check that was blocked,
// has one more suite, whose only case is an error: so no server shows a run green
// that is not.
func (r *Report) JUnit() ([]byte, error) {
	t, err := template.New("junit").Funcs(r.functions()).Parse(junit)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, r.written())
	return b.Bytes(), err
}

// xmlText returns texts one after the other, legible and escaped for an attribute.
func xmlText(texts ...any) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(check.Legible(fmt.Sprint(texts...))))
	return b.String(), err
}

// Finding returns all that a report says of how a check ended: what was expected and
// received, the rules, what to do, and the request as a line to paste, one line each.
func (r *Report) Finding(o *Outcome) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-10s%s\n", name+":", check.Legible(text))
		}
	}
	line("found", o.Detail)
	line("expected", o.Expected)
	line("received", o.Received)
	if o.Failed > 1 {
		line("cases", fmt.Sprintf("%d of %d failed; this is the first", o.Failed, o.Cases))
	}
	if o.Request != nil {
		line("curl", o.Request.Curl())
	}
	line("fix", o.Fix)
	for _, id := range o.Rules {
		rule, _ := rules.Lookup(id)
		line("rule", strings.TrimSpace(rule.Text+" ["+id+"]"))
	}
	line("seed", strconv.FormatUint(r.Seed, 10))
	return b.String()
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
