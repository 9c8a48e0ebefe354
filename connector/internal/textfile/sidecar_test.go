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
