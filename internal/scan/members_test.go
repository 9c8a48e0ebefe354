package scan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestMembers(t *testing.T) {
	before := []string{`{"a":`, `,"b":`, `,"c":`}
	for _, c := range []struct {
		why   string
		text  string
		cells []wire.Value // those read
		rest  string       // what is left, or the fault
		fault string
	}{
		{"all of them", `{"a":1,"b":"x","c":null}`, []wire.Value{wire.Int(1), wire.Text("x"), wire.Null()}, "}", ""},
		{"strings of every length and spelling", `{"a":"","b":"1234567","c":"12345678"}`,
			[]wire.Value{wire.Text(""), wire.Text("1234567"), wire.Text("12345678")}, "}", ""},
		{"strings with escapes and letters beyond ASCII", `{"a":"\"","b":"12345678\n","c":"Straße 😀 und mehr"}`,
			[]wire.Value{wire.Text(`"`), wire.Text("12345678\n"), wire.Text("Straße 😀 und mehr")}, "}", ""},
		{"blanks after the text are no part of it", `{"a": true,"b":  "x","c":` + "\t0.5 }",
			[]wire.Value{wire.Bool(true), wire.Text("x"), wire.Float(0.5)}, " }", ""},
		{"another text at once", `{"x":1}`, nil, `{"x":1}`, ""},
		{"another text later", `{"a":1,"x":2}`, []wire.Value{wire.Int(1)}, `,"x":2}`, ""},
		{"a blank where there was none", `{"a":1, "b":2}`, []wire.Value{wire.Int(1)}, `, "b":2}`, ""},
		{"an end where more was expected", `{"a":1}`, []wire.Value{wire.Int(1)}, "}", ""},
		{"a text that is cut", `{"a":1,"b"`, []wire.Value{wire.Int(1)}, `,"b"`, ""},
		{"nothing", "", nil, "", ""},
		{"a cell that is no scalar", `{"a":1,"b":{},"c":3}`, []wire.Value{wire.Int(1), wire.Null()}, "",
			"invalid JSON at byte 11: expected a string, a number, true, false or null"},
		{"a cell that is missing", `{"a":1,"b":`, []wire.Value{wire.Int(1), wire.Null()}, "", "invalid JSON at byte 11: unexpected end"},
		{"a string that is cut", `{"a":"12345678901234567890`, []wire.Value{wire.Text("")}, "", "invalid JSON at byte 26: unexpected end"},
		{"a control character", "{\"a\":\"1234567890\x01234567890\"", []wire.Value{wire.Text("")}, "",
			"invalid JSON at byte 16: " + "a control character inside a string must be escaped"},
		{"a bad escape", `{"a":"12345678\x"`, []wire.Value{wire.Text("")}, "", "invalid JSON at byte 14: unknown escape"},
	} {
		t.Run(c.why, func(t *testing.T) {
			var s scan.Scanner
			s.Reset(c.text)
			cells := make([]wire.Value, len(before))
			n := s.Members(before, cells)
			if len(c.cells) > 0 || n > 0 {
				assert.Equal(t, c.cells, cells[:n])
			}
			if c.fault != "" {
				assert.EqualError(t, s.Err(), c.fault)
				return
			}
			assert.NoError(t, s.Err())
			assert.Equal(t, c.rest, c.text[s.Offset():])
		})
	}
}

func TestHas(t *testing.T) {
	for body, want := range map[string]bool{
		`{"sql": "select 1", "params": [], "credentials": {}, "timeoutMs": 1}`:   true,
		`{"credentials": {"sql": "x"}, "params": [{"a": [1]}], "sql": 1}`:        true,
		` { "table" : "t" , "s\u0071l" : "" }`:                                   true,
		`{"table": "orders", "and": [], "credentials": {"sql": "not this one"}}`: false,
		`{"SQL": "select 1"}`:           false,
		`{}`:                            false,
		``:                              false,
		`["sql"]`:                       false,
		`{"a": {"sql": 1}}`:             false,
		`{"a" "sql": 1}`:                false,
		`{"a": 1 "sql": 1}`:             false,
		`{"a": tru, "sql": 1}`:          false,
		"{\"a\": \"\xff\", \"sql\": 1}": false,
	} {
		assert.Equal(t, want, scan.Has([]byte(body), "sql"), body)
	}
}
