package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/verdicts"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The shapes are held against testdata/verdicts in package wire/schema, where
// the schemas are at hand. Here is what holds for every message alike.

// bodies are the messages of one verdict folder.
func bodies(t testing.TB, folder string, valid bool) (list [][]byte) {
	for _, v := range verdicts.Read(t, filepath.Join("testdata", "verdicts", folder)) {
		if v.Valid == valid {
			list = append(list, v.Message())
		}
	}
	require.NotEmpty(t, list, folder)
	return list
}

func TestDecodeFields(t *testing.T) {
	var got wire.QueryRequest
	require.NoError(t, wire.Decode([]byte(`{
		"table": "orders",
		"and": [
			{"field": "status", "op": "eq", "value": "paid"},
			{"field": "total", "op": "in", "values": [1, "1.50", null, false]},
			{"field": "note", "op": "isnull"}
		],
		"or": [[{"op": "gte", "value": 2.5, "field": "total"}], [], [{"field": "note", "op": "notnull"}]],
		"sort": [{"field": "id", "dir": "desc"}, {"field": "note", "dir": "asc", "collate": true}],
		"fields": ["id", "total"],
		"limit": 1e2, "offset": 7.0,
		"joins": [{"fromTable": "orders", "toTable": "customers", "fromField": "customer", "toField": "id",
			"fields": [{"field": "name", "as": "customerName", "type": "string"}, {"field": "city"}]}],
		"fieldTypes": {"total": "decimal"},
		"credentials": {"apiKey": "sk-1", "blank": ""},
		"timeoutMs": 3e4, "idleTimeoutMs": 30000, "maxTimeoutMs": 600000
	}`), &got))
	assert.Equal(t, "sk-1", got.Credentials.Get("apiKey"))
	assert.Equal(t, []string{"apiKey", "blank"}, got.Credentials.Keys())
	for most := range 6 {
		n := 0
		for range got.Filters() {
			if n++; n == most {
				break
			}
		}
		assert.Equal(t, [...]int{5, 1, 2, 3, 4, 5}[most], n)
	}
	got.Credentials = wire.Credentials{}
	assert.Equal(t, wire.QueryRequest{
		Table: "orders",
		Where: wire.Where{And: []wire.Filter{
			{Field: "status", Op: wire.OpEq, Value: wire.Text("paid")},
			{Field: "total", Op: wire.OpIn, Values: []wire.Value{wire.Int(1), wire.Text("1.50"), wire.Null(), wire.Bool(false)}},
			{Field: "note", Op: wire.OpIsNull},
		}, Or: [][]wire.Filter{{{Field: "total", Op: wire.OpGte, Value: wire.Float(2.5)}}, nil, {{Field: "note", Op: wire.OpNotNull}}},
			FieldTypes: map[string]wire.Type{"total": wire.TypeDecimal}},
		Sort:   []wire.SortKey{{Field: "id", Dir: wire.Desc}, {Field: "note", Dir: wire.Asc, Collate: true}},
		Fields: []string{"id", "total"},
		Limit:  100, Offset: 7,
		Joins: []wire.JoinHop{{FromTable: "orders", ToTable: "customers", FromField: "customer", ToField: "id",
			Fields: []wire.JoinField{{Field: "name", As: "customerName", Type: wire.TypeString}, {Field: "city", As: "city"}}}},
		Envelope: wire.Envelope{TimeoutMS: 30000}, IdleTimeoutMS: 30000, MaxTimeoutMS: 600000,
	}, got)
}

// What a message says about a fault is for the person who sent it.
func TestDecodeErrors(t *testing.T) {
	const rest = `, "credentials": {}, "timeoutMs": 1}`
	for _, c := range testkit.Table(t, "testdata/decode.tsv", 3) {
		kind, want := c[0], c[2]
		if kind == "count" {
			text := strings.NewReplacer("${rest}", rest, "${nul}", "\x00").Replace(c[1])
			assert.EqualError(t, wire.Decode([]byte(text), new(wire.CountRequest)), want, text)
			continue
		}
		body := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal([]byte(`{"table": "t", "and": []`+rest), &body))
		message, more := wire.Message(new(wire.QueryRequest)), `{"sort": [], "fields": ["id"]}`
		if kind == "aggregate" {
			message, more = new(wire.AggregateRequest), `{"groupBy": [], "measures": [{"fn": "count", "as": "n"}], "limit": 1}`
		}
		require.NoError(t, json.Unmarshal([]byte(more), &body))
		require.NoError(t, json.Unmarshal([]byte("{"+c[1]+"}"), &body))
		assert.ErrorContains(t, wire.Decode(testkit.Must(json.Marshal(body))(t), message), want, c[1])
	}
	assert.ErrorContains(t, wire.Decode([]byte(`{"orphanRate": 1.5}`), new(wire.LinkHitRate)), "orphanRate: must be a number from 0 to 1")
	deep := `{"credentials": {}, "timeoutMs": 1, "x": ` + strings.Repeat(`{"x": `, 31) + `[`
	assert.ErrorContains(t, wire.Decode([]byte(strings.TrimSuffix(deep, "[")), new(wire.CheckRequest)), "unexpected end")
	assert.EqualError(t, wire.Decode([]byte(deep), new(wire.CheckRequest)), "body: is nested more than 32 deep; flatten it")
	twice := `{"credentials": {}, "timeoutMs": 1, "secret": 1, "secret": 1}`
	assert.EqualError(t, wire.Decode([]byte(twice), new(wire.CheckRequest)), "body: duplicate unknown member; send each member once")
}

// A body that ends too early is refused wherever it ends, and leaves the
// message alone.
func TestDecodeTruncated(t *testing.T) {
	for _, message := range verdicts.Messages {
		for _, body := range bodies(t, message.Folder, true) {
			body = bytes.TrimSpace(body)
			for end := range body {
				m := message.Make()
				var fault *wire.MessageError
				require.ErrorAs(t, wire.Decode(body[:end], m), &fault, "%s", body[:end])
				require.Equal(t, message.Make(), m)
			}
		}
	}
}

// No text of a body comes back in an error: every name and every value is
// replaced by a canary, one at a time, then all at once.
func TestDecodeErrorsQuoteNothing(t *testing.T) {
	const canary = "Canary7f3a"
	token := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null`)
	refused := 0
	for _, message := range verdicts.Messages {
		for _, valid := range []bool{true, false} {
			for _, body := range bodies(t, message.Folder, valid) {
				if len(body) > 10_000 {
					continue
				}
				mutants := [][]byte{token.ReplaceAll(body, []byte(`"`+canary+`"`))}
				for _, at := range token.FindAllIndex(body, -1) {
					for _, with := range []string{`"` + canary + `"`, `{"` + canary + `":1}`, `["` + canary + `"]`, `77777.5`, canary, `"` + canary} {
						mutants = append(mutants, []byte(string(body[:at[0]])+with+string(body[at[1]:])))
					}
				}
				for _, mutant := range mutants {
					err := wire.Decode(mutant, message.Make())
					if err == nil {
						continue
					}
					refused++
					if text := err.Error(); strings.Contains(text, canary) || strings.Contains(text, "77777") {
						t.Fatalf("%s\n%s", text, mutant)
					}
				}
			}
		}
	}
	assert.Greater(t, refused, 10_000)
}

// Names and values that an attacker chose cost time in proportion
// to their length.
func TestDecodeIsLinear(t *testing.T) {
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, `"n%d":"",`, i)
	}
	names := strings.TrimSuffix(many.String(), ",")
	start := time.Now()
	for _, c := range []struct {
		body  string
		valid bool
	}{
		{`{"credentials":{` + names + `},"timeoutMs":1}`, false},
		{`{"credentials":{},"timeoutMs":1,` + names + `}`, true},
		{`{"credentials":{},"timeoutMs":1,"x":{` + names + `}}`, true},
		{`{"credentials":{},"timeoutMs":1,"x":[` + strings.Repeat(`{"a":[]},`, 100_000) + `0]}`, true},
		{`{"credentials":{},"timeoutMs":1` + strings.Repeat("0", 1<<20) + `}`, false},
		{`{"credentials":{},"timeoutMs":1,"x":"` + strings.Repeat(`\n`, 1<<20) + `"}`, true},
		{`{"credentials":{},"timeoutMs":1,"x":` + strings.Repeat("[", 1<<20), false},
	} {
		assert.Equal(t, c.valid, wire.Decode([]byte(c.body), new(wire.CheckRequest)) == nil)
	}
	assert.Less(t, time.Since(start), time.Minute, "about a second; quadratic work would take minutes")
}

// Credentials are bounded in number and in bytes, for what is done to scrub them
// grows with both [rule credential-10].
func TestCredentialsAreBounded(t *testing.T) {
	const most = 1 << 20
	members := func(n int, value string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%03d":"%s"`, i, value)
		}
		return b.String()[1:]
	}
	for _, c := range []struct {
		why, credentials string
		valid            bool
	}{
		{"as many members as there may be", members(256, "v"), true},
		{"one more", members(257, "v"), false},
		{"as much text as there may be", `"key":"` + strings.Repeat("v", most-3) + `"`, true},
		{"a byte more in a value", `"key":"` + strings.Repeat("v", most-2) + `"`, false},
		{"a byte more in a key", `"keys":"` + strings.Repeat("v", most-3) + `"`, false},
		{"as much text in many members", members(256, strings.Repeat("v", most/256-4)), true},
		{"too much of it together", members(256, strings.Repeat("v", most/256-3)), false},
		{"the text counts, not how it is spelled", `"key":"` + strings.Repeat(`\u00fc`, (most-3)/2) + `"`, true},
		{"a character of two bytes beyond", `"key":"` + strings.Repeat(`\u00fc`, (most-3)/2+1) + `"`, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			err := wire.Decode([]byte(`{"credentials":{`+c.credentials+`},"timeoutMs":1}`), new(wire.CheckRequest))
			if c.valid {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err,
				"credentials: at most 256 members and 1 MiB of keys and values; send only the fields of the document")
		})
	}
}

func TestDecodeKeepsACopy(t *testing.T) {
	data := []byte(`{"table": "orders", "credentials": {"k": "secret"}, "timeoutMs": 1}`)
	var m wire.SizeRequest
	require.NoError(t, wire.Decode(data, &m))
	for i := range data {
		data[i] = 'x'
	}
	assert.Equal(t, "orders", m.Table)
	assert.Equal(t, "secret", m.Credentials.Get("k"))
}

func TestDecodeReplacesTheMessage(t *testing.T) {
	m := wire.CardinalityRequest{Table: "old", Columns: []string{"old"}, Envelope: wire.Envelope{TimeoutMS: 5}}
	require.NoError(t, wire.Decode([]byte(`{"table": "new", "columns": ["a"], "credentials": {}, "timeoutMs": 1}`), &m))
	assert.Equal(t, "new", m.Table)
	assert.Equal(t, []string{"a"}, m.Columns)
	require.Error(t, wire.Decode([]byte(`{"table": "newer", "columns": [], "credentials": {}, "timeoutMs": 1}`), &m))
	assert.Equal(t, "new", m.Table, "a refused body leaves the message as it was")
}

// FuzzDecode: no input panics; what is accepted is JSON and survives being
// encoded; what is refused as JSON is none, but for what this protocol alone
// refuses.
func FuzzDecode(f *testing.F) {
	for i, message := range verdicts.Messages {
		for _, valid := range []bool{true, false} {
			for _, body := range bodies(f, message.Folder, valid) {
				f.Add(uint8(i), body)
			}
		}
	}
	for _, c := range testkit.Table(f, "../internal/jsontext/testdata/texts.tsv", 3) {
		f.Add(uint8(0), []byte(`{"credentials":{},"timeoutMs":1,"x":`+testkit.Must(strconv.Unquote(c[2]))(f)+`}`))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		message := verdicts.Messages[int(which)%len(verdicts.Messages)]
		m := message.Make()
		if err := wire.Decode(data, m); err != nil {
			fault, ok := err.(*wire.MessageError)
			require.True(t, ok)
			require.Equal(t, message.Make(), m)
			require.Regexp(t, `^[A-Za-z.\[\]0-9]+$`, fault.Path)
			if strings.HasPrefix(fault.Problem, "invalid JSON") && json.Valid(data) {
				require.Regexp(t, "UTF-8|surrogate|double", fault.Problem)
			}
			return
		}
		require.True(t, json.Valid(data))
		once := testkit.Must(verdicts.Encode(m))(t)
		again := message.Make()
		require.NoError(t, wire.Decode(once, again), "%s", once)
		require.Equal(t, string(once), string(testkit.Must(verdicts.Encode(again))(t)))
	})
}

// DecodeAnswer reads what Decode reads.
func TestDecodeAnswer(t *testing.T) {
	answers := 0
	for _, message := range verdicts.Messages {
		for _, body := range bodies(t, message.Folder, true) {
			want := message.Make()
			got, ok := message.Make().(wire.Answer)
			require.NotEqual(t, strings.HasSuffix(message.Folder, "-request"), ok)
			if !ok {
				continue
			}
			require.NoError(t, wire.Decode(body, want))
			require.NoError(t, wire.DecodeAnswer(body, got), "%s", body)
			require.Equal(t, want, got)
			answers++
		}
	}
	require.NotZero(t, answers)
	braces := strings.NewReplacer("${open}", strings.Repeat("[", 31), "${close}", strings.Repeat("]", 31))
	for _, c := range testkit.Table(t, "testdata/answers.tsv", 4) {
		i := slices.IndexFunc(verdicts.Messages, func(m verdicts.Message) bool { return m.Folder == c[0] })
		err := wire.DecodeAnswer([]byte(braces.Replace(c[1])), verdicts.Messages[i].Make().(wire.Answer))
		if c[2] == "-" {
			assert.NoError(t, err, c[3])
			continue
		}
		assert.EqualError(t, err, c[2], c[3])
	}
}

// DecodeAnswer makes of a message with members that the protocol does not define, on
// every level, what it makes of the message without them.
func TestDecodeAnswerDrops(t *testing.T) {
	const usual = `{"tables":[{"name":"t","sourceDescription":"","storesRows":true,"primaryKey":["f"],"foreignKeys":[],` +
		`"fields":[{"name":"f","sourceColumn":"f","type":"string","nullable":true,"unique":false,"samples":["a",1,null],` +
		`"sourceDescription":"}{ \\\" ,","stats":{"distinctCount":2,"min":"a"}}]},{"name":"u","sourceDescription":"","storesRows":false,` +
		`"primaryKey":[],"foreignKeys":[],"fields":[]}],"warnings":["w"]}`
	var want wire.Discovery
	require.NoError(t, wire.Decode([]byte(usual), &want))
	at := 0
	for i, c := range usual {
		if c != '{' || usual[i+1] != '"' {
			continue
		}
		at++
		for _, more := range []string{`"x":1,`, ` "x" : { "tables" : [ 1 , { } ] } , "y":"}" ,`} {
			var got wire.Discovery
			require.NoError(t, wire.DecodeAnswer([]byte(usual[:i+1]+more+usual[i+1:]), &got), "byte %d", i)
			require.Equal(t, want, got)
			var bad wire.Discovery
			err := wire.DecodeAnswer([]byte(usual[:i+1]+more+`"x":2,`+usual[i+1:]), &bad)
			require.Error(t, err, "of two values one is wrong")
		}
	}
	require.Equal(t, 5, at)
	for i, c := range usual {
		if c != '}' || i > 0 && usual[i-1] == '"' && usual[i+1] == '{' {
			continue
		}
		var got wire.Discovery
		require.NoError(t, wire.DecodeAnswer([]byte(usual[:i]+`,"x":[null]`+usual[i:]), &got), "byte %d", i)
		require.Equal(t, want, got)
	}
}

func TestMain(m *testing.M) { testrun.Main(m) }
