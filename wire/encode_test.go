package wire_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/verdicts"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func ref[T any](v T) *T { return &v }

var creds = wire.NewCredentials(map[string]string{"b": "<2>", "a": "é&"})

// encodedMessages are what a connector or a client writes, to the byte.
var encodedMessages = []struct {
	why     string
	message wire.Message
	want    string
}{
	{"Credentials are revealed, in the order of their keys.", &wire.CheckRequest{Envelope: wire.Envelope{Credentials: creds, TimeoutMS: 5}},
		`{"credentials":{"a":"é&","b":"<2>"},"timeoutMs":5}`},
	{"No credentials are an empty object (http-6).", &wire.DiscoveryRequest{Envelope: wire.Envelope{TimeoutMS: 5}},
		`{"credentials":{},"timeoutMs":5}`},
	{"Required arrays are there even when nil (aggregate-8); optional members are left out.",
		&wire.QueryRequest{Table: "t", Envelope: wire.Envelope{TimeoutMS: 5}},
		`{"table":"t","and":[],"sort":[],"fields":[],"credentials":{},"timeoutMs":5}`},
	{"Every member.", &wire.QueryRequest{Table: "t",
		Where: wire.Where{And: []wire.Filter{{Field: "a", Op: wire.OpEq}, {Field: "b", Op: wire.OpIn},
			{Field: "c", Op: wire.OpNotNull, Value: wire.Int(1)}},
			Or: [][]wire.Filter{nil, {{Field: "a", Op: wire.OpNin,
				Values: []wire.Value{wire.Decimal("1.50"), wire.Float(1e-7)}}}},
			FieldTypes: map[string]wire.Type{"z": wire.TypeJSON, "a": wire.TypeDecimal}},
		Sort:   []wire.SortKey{{Field: "a", Dir: wire.Asc}, {Field: "b", Dir: wire.Desc, Collate: true}},
		Fields: []string{"a"}, Limit: 1, Offset: 2,
		Joins: []wire.JoinHop{{FromTable: "t", ToTable: "u", FromField: "x", ToField: "y",
			Fields: []wire.JoinField{{Field: "f", As: "g", Type: wire.TypeDate}, {Field: "h"}}},
			{FromTable: "u", ToTable: "v", FromField: "x", ToField: "y"}}, Envelope: wire.Envelope{TimeoutMS: 5}, IdleTimeoutMS: 6, MaxTimeoutMS: 7},
		`{"table":"t","and":[{"field":"a","op":"eq","value":null},{"field":"b","op":"in","values":[]},{"field":"c","op":"notnull"}],` +
			`"or":[[],[{"field":"a","op":"nin","values":["1.50","0.0000001"]}]],` +
			`"sort":[{"field":"a","dir":"asc"},{"field":"b","dir":"desc","collate":true}],"fields":["a"],"limit":1,"offset":2,` +
			`"joins":[{"fromTable":"t","toTable":"u","fromField":"x","toField":"y","fields":[{"field":"f","as":"g","type":"date"},{"field":"h"}]},` +
			`{"fromTable":"u","toTable":"v","fromField":"x","toField":"y","fields":[]}],` +
			`"fieldTypes":{"a":"decimal","z":"json"},"credentials":{},"timeoutMs":5,"idleTimeoutMs":6,"maxTimeoutMs":7}`},
	{"Dialect mode.", &wire.SQLRequest{SQL: "select 1", Envelope: wire.Envelope{TimeoutMS: 5}, IdleTimeoutMS: 6},
		`{"sql":"select 1","params":[],"credentials":{},"timeoutMs":5,"idleTimeoutMs":6}`},
	{"A count, with an or that is empty.", &wire.CountRequest{Table: "t", Where: wire.Where{Or: [][]wire.Filter{}},
		Envelope: wire.Envelope{TimeoutMS: 5}}, `{"table":"t","and":[],"or":[],"credentials":{},"timeoutMs":5}`},
	{"An aggregate.", &wire.AggregateRequest{Table: "t", GroupBy: []wire.GroupKey{{Field: "d", As: "m", Grain: wire.GrainMonth}},
		Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}, {Fn: wire.AggSum, Field: "x", As: "s"}}, Limit: 1001,
		Envelope: wire.Envelope{TimeoutMS: 5}},
		`{"table":"t","and":[],"groupBy":[{"field":"d","as":"m","grain":"month"}],"measures":[{"fn":"count","as":"n"},` +
			`{"fn":"sum","field":"x","as":"s"}],"limit":1001,"credentials":{},"timeoutMs":5}`},
	{"A size.", &wire.SizeRequest{Table: "t", Envelope: wire.Envelope{TimeoutMS: 5}}, `{"table":"t","credentials":{},"timeoutMs":5}`},
	{"A cardinality.", &wire.CardinalityRequest{Table: "t", Columns: []string{"a"},
		Envelope: wire.Envelope{TimeoutMS: 5}}, `{"table":"t","columns":["a"],"credentials":{},"timeoutMs":5}`},
	{"A link.", &wire.LinkHitRateRequest{FromTable: "a", FromColumn: "b", ToTable: "c", ToColumn: "d", Envelope: wire.Envelope{TimeoutMS: 5}},
		`{"fromTable":"a","fromColumn":"b","toTable":"c","toColumn":"d","credentials":{},"timeoutMs":5}`},

	{"A document without anything has all that is required; unknown ceilings are left out.", &wire.Document{ProtocolVersion: 1, Slug: "abc"},
		`{"protocolVersion":1,"slug":"abc","capabilities":{"operators":[],"dateBucket":false,"sort":"","offset":false,"join":false,` +
			`"keysEnforced":false,"limits":{}},"credentialSchema":[],"endpoints":[]}`},
	{"A full document; required is always written out (document-1).", &wire.Document{ProtocolVersion: 1, Slug: "abc", Dialect: "postgres",
		Capabilities: wire.Capabilities{Operators: []wire.Op{wire.OpEq}, DateBucket: true, Sort: wire.SortMulti, Offset: true, Join: true,
			KeysEnforced: true, Limits: wire.Limits{PageSizeMax: 1, RowsPerTableMax: 2, Concurrency: 3, OffsetMax: 4}},
		CredentialSchema: []wire.CredentialField{{Key: "k", Label: "K", Type: wire.CredentialText, Optional: true}, {Key: "p", Label: "P",
			Type: wire.CredentialPassword, Placeholder: "sk-", Help: "**h**"}},
		Endpoints: []wire.Endpoint{wire.EndpointSize}},
		`{"protocolVersion":1,"slug":"abc","dialect":"postgres","capabilities":{"operators":["eq"],` +
			`"dateBucket":true,"sort":"multi","offset":true,` +
			`"join":true,"keysEnforced":true,"limits":{"pageSizeMax":1,"rowsPerTableMax":2,"concurrency":3,"offsetMax":4}},` +
			`"credentialSchema":[{"key":"k","label":"K","type":"text","required":false},{"key":"p","label":"P","type":"password","required":true,` +
			`"placeholder":"sk-","help":"**h**"}],"endpoints":["size"]}`},
	{"A check.", &wire.CheckAnswer{OK: true}, `{"ok":true}`},
	{"No tables are an empty array.", &wire.Discovery{}, `{"tables":[]}`},
	{"Nil slices of tables and fields are empty arrays; a column's name in the source is the field's unless stated.",
		&wire.Discovery{Tables: []wire.Table{{Name: "t", Fields: []wire.Field{{Name: "a", Type: wire.TypeString}}}},
			Warnings: []string{"w"}},
		`{"tables":[{"name":"t","sourceDescription":"","storesRows":false,"primaryKey":[],"foreignKeys":[],` +
			`"fields":[{"name":"a","sourceColumn":"a",` +
			`"type":"string","nullable":false,"unique":false,"samples":[],"sourceDescription":""}]}],"warnings":["w"]}`},
	{"Known zeros are written, unknown ones are not.",
		&wire.Discovery{Tables: []wire.Table{{Name: "t", RowCount: ref(int64(0)), StoresRows: true,
			PrimaryKey:  []string{"a"},
			ForeignKeys: []wire.ForeignKey{{Field: "a", TargetTable: "u", TargetField: "b"}},
			Fields: []wire.Field{{Name: "a", SourceColumn: "A", Type: wire.TypeDecimal, Nullable: true, Unique: true,
				Samples:           []wire.Value{wire.Decimal("1.50"), wire.Null()},
				SourceDescription: "d", Stats: &wire.Stats{NullPercent: ref(0.0), Min: ref(wire.Null()), Max: ref(wire.Int(1 << 60))},
				Filterable: ref(true), Groupable: ref(false), Aggregatable: ref(false)}}}}},
		`{"tables":[{"name":"t","sourceDescription":"","rowCount":0,"storesRows":true,"primaryKey":["a"],` +
			`"foreignKeys":[{"field":"a","targetTable":"u","targetField":"b"}],` +
			`"fields":[{"name":"a","sourceColumn":"A","type":"decimal","nullable":true,"unique":true,` +
			`"samples":["1.50",null],"sourceDescription":"d",` +
			`"stats":{"nullPercent":0,"distinctCount":0,"min":null,"max":"1152921504606846976"},"filterable":true,` +
			`"groupable":false,"aggregatable":false}]}]}`},
	{"A count.", &wire.CountAnswer{Count: 3}, `{"count":3}`},
	{"No groups are an empty array.", &wire.AggregateAnswer{}, `{"rows":[]}`},
	{"Groups, members in the order of their names.",
		&wire.AggregateAnswer{Rows: []map[string]wire.Value{{"n": wire.Int(1), "a": wire.Null()}, nil}},
		`{"rows":[{"a":null,"n":1},{}]}`},
	{"A size.", &wire.SizeAnswer{Size: &wire.Size{Rows: 3, Exact: true}}, `{"size":{"rows":3,"exact":true}}`},
	{"An unknown size is a null inside the wrapper.", &wire.SizeAnswer{}, `{"size":null}`},
	{"No columns are an empty object.", &wire.CardinalityAnswer{}, `{"columns":{}}`},
	{"Columns; nil is null.", &wire.CardinalityAnswer{Columns: map[string]*wire.Cardinality{"b": {NonNull: 2,
		Distinct: 1}, "a": nil}}, `{"columns":{"a":null,"b":{"nonNull":2,"distinct":1}}}`},
	{"No samples are an empty array.", &wire.LinkHitRate{}, `{"fromNonNull":0,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`},
	{"A rate is plain digits.", &wire.LinkHitRate{FromNonNull: 1e7, OrphanCount: 1, OrphanRate: 1e-7,
		OrphanSamples: []string{"x"}},
		`{"fromNonNull":10000000,"orphanCount":1,"orphanRate":0.0000001,"orphanSamples":["x"]}`},
	{"An envelope.", &wire.ErrorAnswer{Error: wire.Error{Code: wire.CodeInternal, Message: terms.InternalMessage}},
		`{"error":{"code":"internal","message":"internal error"}}`},
}

func TestEncode(t *testing.T) {
	for _, c := range encodedMessages {
		t.Run(c.why, func(t *testing.T) {
			assert.Equal(t, c.want, string(testkit.Must(verdicts.Encode(c.message))(t)))
		})
	}
}

func TestEncodeFaults(t *testing.T) {
	bad := "bad \xff"
	for _, c := range []struct {
		why     string
		message wire.Message
		want    string
	}{
		{"text that is not UTF-8", &wire.QueryRequest{Table: bad}, "table: text is not valid UTF-8"},
		{"the path leads to it", &wire.QueryRequest{Where: wire.Where{Or: [][]wire.Filter{{},
			{{Field: "a", Op: wire.OpIn, Values: []wire.Value{wire.Int(1), wire.Text(bad)}}}}}, Fields: []string{bad}},
			"or[1][0].values[1]: text is not valid UTF-8"},
		{"a value that cannot cross", &wire.SQLRequest{Params: []wire.Value{wire.Float(math.NaN())}},
			"params[0]: NaN and infinities cannot cross the wire; send null or fix the source"},
		{"the path does not name a credential",
			&wire.CheckRequest{Envelope: wire.Envelope{Credentials: wire.NewCredentials(map[string]string{"k": bad})}},
			"credentials: text is not valid UTF-8"},
		{"a name that is not UTF-8",
			&wire.CountRequest{Where: wire.Where{FieldTypes: map[string]wire.Type{bad: wire.TypeDate}}},
			"fieldTypes: text is not valid UTF-8"},
		{"deep inside a discovery", &wire.Discovery{Tables: []wire.Table{{},
			{Fields: []wire.Field{{Stats: &wire.Stats{Max: ref(wire.Text(bad))}}}}}},
			"tables[1].fields[0].stats.max: text is not valid UTF-8"},
		{"a share that is no number",
			&wire.Discovery{Tables: []wire.Table{{Fields: []wire.Field{{Stats: &wire.Stats{NullPercent: ref(math.Inf(-1))}}}}}},
			"tables[0].fields[0].stats.nullPercent: not a number"},
		{"a rate that is no number, as 1/0", &wire.LinkHitRate{OrphanRate: math.Inf(1)}, "orphanRate: not a number"},
		{"a rate that is no number, as 0/0", &wire.LinkHitRate{OrphanRate: math.NaN()}, "orphanRate: not a number"},
		{"a cell of a group", &wire.AggregateAnswer{Rows: []map[string]wire.Value{{}, {"a": wire.Decimal("x")}}},
			"rows[1]: not plain decimal digits; a decimal is an optional sign, digits, and optionally a dot and digits"},
		{"a check that is not ok", &wire.CheckAnswer{}, "ok: must be true; a rejection is an error envelope"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := verdicts.Encode(c.message)
			var fault *wire.MessageError
			require.ErrorAs(t, err, &fault)
			assert.EqualError(t, err, c.want)
		})
	}
}
