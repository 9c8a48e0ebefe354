package textfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestParseSidecar(t *testing.T) {
	s, err := ParseSidecar("t.table.json", []byte(bom+`{
		"description": "d",
		"columns": {"Cust No": {"name": "customer", "type": "reference", "description": "c", "samples": false}, "b": {}},
		"primaryKey": ["id", "line"],
		"unique": ["b"],
		"foreignKeys": [{"field": "customer", "targetTable": "customers", "targetField": "id"},
			{"field": "b", "targetTable": "customers", "targetField": "id"}]
	}`))
	require.NoError(t, err)
	assert.Equal(t, &Sidecar{
		File: "t.table.json", Description: "d",
		Columns: map[string]SidecarColumn{
			"Cust No": {Name: "customer", Type: wire.TypeReference, Description: "c", Samples: new(bool)},
			"b":       {},
		},
		PrimaryKey: []string{"id", "line"}, Unique: []string{"b"},
		ForeignKeys: []wire.ForeignKey{{Field: "customer", TargetTable: "customers", TargetField: "id"},
			{Field: "b", TargetTable: "customers", TargetField: "id"}},
	}, s)
	s = testkit.Must(ParseSidecar("t.table.json", []byte(`{}`)))(t, "a sidecar may say nothing")
	assert.Empty(t, s.Columns)
}

func TestSidecarFaults(t *testing.T) {
	for _, c := range []struct{ why, in, want string }{
		{"no object", `[]`, `line 1: must be an object`},
		{"nothing but blanks", "\n ", `line 2: must be an object`},
		{"cut off", "{\n\"description\":", `line 2: "description": must be a string`},
		{"no JSON", "{\n'description': 1}", `line 2: expected a string`},
		{"a comma too many", `{"unique":[],}`, `line 1: expected a string`},
		{"more behind it", "{}\n{}", `line 2: unexpected data after the JSON value`},
		{"bad UTF-8", "{\"description\":\"\xff\"}", `line 1: not valid UTF-8`},
		{"a member of another case is none", "{\n \"primarykey\": []}",
			`line 2: "primarykey": no such member; there are description, separator, encoding, decimalComma, dateFormat, columns, primaryKey, unique and foreignKeys`},
		{"a member twice", `{"unique":[],"unique":[]}`, `line 1: "unique": duplicate member; write each member once`},
		{"a column twice", `{"columns":{"a":{},"a":{}}}`, `line 1: "columns": "a": duplicate member; write each member once`},
		{"a description that is no text", `{"description":1}`, `line 1: "description": must be a string`},
		{"null is no text", `{"description":null}`, `line 1: "description": must be a string`},
		{"columns as a list", `{"columns":[]}`, `line 1: "columns": must be an object`},
		{"a column as a text", `{"columns":{"a":"number"}}`, `line 1: "columns": "a": must be an object`},
		{"an unknown type", "{\"columns\":{\n\"a\":{\"type\":\"integer\"}}}",
			`line 2: "columns": "a": "type": must be string, number, decimal, boolean, date, datetime, json, array or reference`},
		{"an unknown member of a column", `{"columns":{"a":{"unique":true}}}`,
			`line 1: "columns": "a": "unique": no such member; there are name, type, description and samples`},
		{"samples are shown or not", `{"columns":{"a":{"samples":["x"]}}}`, `line 1: "columns": "a": "samples": must be true or false`},
		{"a blank name", `{"columns":{"a":{"name":" "}}}`, `line 1: "columns": "a": "name": must not be blank`},
		{"an empty format", `{"dateFormat":""}`, `line 1: "dateFormat": must not be empty; leave the member out`},
		{"no separator", `{"separator":";;"}`, `line 1: "separator": must be one character, such as ";"`},
		{"no encoding", `{"encoding":"ansi"}`, `line 1: "encoding": must be one of utf-8, utf-16, utf-16le, utf-16be, ibm850, iso-8859-1, ` +
			`iso-8859-15, macintosh, windows-1250, windows-1251, windows-1252`},
		{"a blank in a key", `{"unique":[" "]}`, `line 1: "unique": must not be blank`},
		{"a foreign key that is wrong on a line of its own", "{\"foreignKeys\":[\n{\"field\":\"a\",\n\"targetTable\":\"b\"}]}",
			`line 2: "foreignKeys": a foreign key needs field, targetTable and targetField`},
		{"a foreign key without a field", `{"foreignKeys":[{"targetTable":"b","targetField":"c"}]}`,
			`line 1: "foreignKeys": a foreign key needs field, targetTable and targetField`},
		{"or without a table", `{"foreignKeys":[{"field":"a","targetField":"c"}]}`,
			`line 1: "foreignKeys": a foreign key needs field, targetTable and targetField`},
		{"a key as a text", `{"primaryKey":"id"}`, `line 1: "primaryKey": must be an array`},
		{"a key of numbers", `{"primaryKey":[1]}`, `line 1: "primaryKey": must be a string`},
		{"a key that names a field twice", `{"primaryKey":["a","a"]}`, `line 1: "primaryKey": names a field twice`},
		{"a unique field twice", `{"unique":["a","a"]}`, `line 1: "unique": names a field twice`},
		{"half a foreign key", `{"foreignKeys":[{"field":"a"}]}`,
			`line 1: "foreignKeys": a foreign key needs field, targetTable and targetField`},
		{"an unknown member of a foreign key", `{"foreignKeys":[{"column":"a"}]}`,
			`line 1: "foreignKeys": "column": no such member; there are field, targetTable and targetField`},
		{"a foreign key twice", `{"foreignKeys":[{"field":"a","targetTable":"b","targetField":"c"},{"field":"a",` +
			`"targetTable":"b","targetField":"c"}]}`, `line 1: "foreignKeys": the same foreign key twice`},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := ParseSidecar("t.table.json", []byte(c.in))
			require.EqualError(t, err, "t.table.json "+c.want)
		})
	}
}

func FuzzSidecar(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"description":"d","columns":{"a":{"name":"b","type":"number","samples":false}},"primaryKey":["b"],"unique":[],` +
			`"foreignKeys":[{"field":"a","targetTable":"b","targetField":"c"}]}`,
		`{"columns":{"a":{"type":"x"}}}`, "{\n\"a\"", `{"primaryKey":[""]}`, `[`, "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		s, err := ParseSidecar("f", []byte(content))
		if err != nil {
			var fault *Fault
			require.ErrorAs(t, err, &fault)
			require.Positive(t, fault.Line)
			return
		}
		for _, c := range s.Columns {
			require.True(t, c.Type == "" || terms.IsType(c.Type))
		}
	})
}
