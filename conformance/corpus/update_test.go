package corpus

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

var update = flag.Bool("update", false, "write the oracle's answers into the cases that are not answered by hand")

// updateCases rewrites the files. It keeps the answers written by hand.
func updateCases(t *testing.T) {
	tables := oracleTables()
	names, err := filepath.Glob("cases/*.json")
	require.NoError(t, err)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		files, err := readCases(raw)
		require.NoError(t, err, name)
		var out strings.Builder
		for i, f := range files {
			answer := string(f.Answer)
			if !f.ByHand {
				a, err := expected(tables, f.Case.Request)
				require.NoError(t, err, f.Name)
				answer = answerBody(f.Case.Request, a)
			}
			out.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
			facet := ""
			if f.Facet != "" {
				facet = `"facet": ` + quote(f.Facet) + `, `
			}
			fmt.Fprintf(&out, `  {"name": %s, "check": %s, %s"rule": %s, "why": %s, `,
				quote(f.Name), quote(f.Check), facet, quote(f.Rule), quote(f.Why))
			if f.ByHand {
				out.WriteString(`"byHand": true, `)
			}
			fmt.Fprintf(&out, "\"path\": %s,\n    \"request\": %s,\n    \"answer\": %s}", quote(f.Path), oneLine(f.Request), oneLine([]byte(answer)))
		}
		out.WriteString("\n]\n")
		require.NoError(t, os.WriteFile(name, []byte(out.String()), 0o644))
	}
}

// answerBody returns an answer in its form in a file.
func answerBody(request wire.Request, a Answer) string {
	var body any
	var err error
	switch request.(type) {
	case *wire.QueryRequest:
		rows := a.Rows
		if rows == nil {
			rows = [][]wire.Value{}
		}
		var columns, cells []byte
		columns, err = json.Marshal(a.Columns)
		if err == nil {
			cells, err = json.Marshal(rows)
		}
		return ascii(fmt.Sprintf(`{"columns":%s,"rows":%s}`, columns, cells), err)
	case *wire.CountRequest:
		body = a.Count
	case *wire.AggregateRequest:
		if a.TooMany {
			return tooMany
		}
		var groups []string
		for _, row := range a.Rows {
			var members []string
			for i, v := range row {
				cell, fault := v.MarshalJSON()
				if fault != nil {
					err = fault
				}
				members = append(members, quote(a.Columns[i])+":"+string(cell))
			}
			groups = append(groups, "{"+strings.Join(members, ",")+"}")
		}
		return ascii(`{"rows":[`+strings.Join(groups, ",")+`]}`, err)
	case *wire.SizeRequest:
		raw, err := wire.EncodeAnswer(&wire.SizeAnswer{Size: a.Size})
		return ascii(string(raw), err)
	case *wire.CardinalityRequest:
		raw, err := wire.EncodeAnswer(&wire.CardinalityAnswer{Columns: a.Cardinality})
		return ascii(string(raw), err)
	case *wire.LinkHitRateRequest:
		raw, err := wire.EncodeAnswer(a.LinkHitRate)
		return ascii(string(raw), err)
	}
	raw, err := json.Marshal(body)
	return ascii(string(raw), err)
}

func quote(s string) string {
	raw, err := json.Marshal(s)
	return ascii(string(raw), err)
}

func oneLine(raw []byte) string {
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	return ascii(b.String(), err)
}

// ascii returns JSON with escapes, so that differences in normal form or in
// white space are visible in a file.
func ascii(text string, err error) string {
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x7f:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
