package connector_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func discovering(d *wire.Discovery) connectors.Source {
	return connectors.Source{OnDiscover: func(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) { return d, nil }}
}

// sound returns a discovery with everything in it, which leaves the names of columns to the library.
func sound(t *testing.T) *wire.Discovery {
	var d wire.Discovery
	require.NoError(t, wire.Decode(testkit.Must(os.ReadFile("testdata/discovery.json"))(t), &d))
	for i := range d.Tables {
		for k, f := range d.Tables[i].Fields {
			if f.SourceColumn == f.Name {
				d.Tables[i].Fields[k].SourceColumn = ""
			}
		}
	}
	// Lists that an author leaves out arrive as empty ones.
	d.Tables[1].PrimaryKey, d.Tables[2].Fields, d.Tables[3].ForeignKeys, d.Tables[1].Fields[0].Samples = nil, nil, nil, nil
	return &d
}

// TestDiscovery checks that a sound discovery arrives whole.
func TestDiscovery(t *testing.T) {
	s := serve(t, discovering(sound(t)), nil)
	a := s.post(asked("/discovery"))
	require.Equal(t, 200, a.status, a.body)
	assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
	assert.Equal(t, "application/json", a.header.Get("Content-Type"))
	var want bytes.Buffer
	require.NoError(t, json.Compact(&want, testkit.Must(os.ReadFile("testdata/discovery.json"))(t)))
	assert.Equal(t, strings.TrimSpace(want.String()), a.body)
	assert.Equal(t, `WARN the source warns slug=shop route=/discovery cause=the foreign key "id" of table "orders" `+
		`leads to table "unseen", which Discover does not list`, s.log.String())

	a = serve(t, discovering(&wire.Discovery{}), nil).post("/discovery", good("/discovery"))
	assert.Equal(t, `{"tables":[]}`, a.body, "no tables are an empty array, not null")
}

// TestDiscoveryRules breaks each rule. Only the author can repair that, so the answer is an internal error, and the log
// names place and fault without the value.
func TestDiscoveryRules(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/undiscovered.tsv", 4) {
		why, path, want := c[0], c[1], c[3]
		t.Run(why, func(t *testing.T) {
			d := sound(t)
			put(t, d, path, c[2])
			s := serve(t, discovering(d), nil)
			a := s.post(asked("/discovery"))
			a.refuses(t, 500, wire.CodeInternal, "internal error")
			s.keepsSecrets(a)
			require.Len(t, s.log.all(), 1)
			assert.Equal(t, "ERROR internal error slug=shop route=/discovery cause=the tables that Discover "+
				"answered break the rules: "+path+": "+want, s.log.String())
			s.alive()
		})
	}
}

// put sets what is at a path such as tables[0].rowCount.
func put(t *testing.T, d *wire.Discovery, path, word string) {
	at := reflect.ValueOf(d)
	for name := range strings.FieldsFuncSeq(path, func(c rune) bool { return strings.ContainsRune(".[]", c) }) {
		at = reflect.Indirect(at)
		if i, err := strconv.Atoi(name); err == nil {
			at = at.Index(i)
		} else {
			at = at.FieldByName(strings.ToUpper(name[:1]) + name[1:])
		}
	}
	if at.Kind() == reflect.Pointer {
		at.Set(reflect.New(at.Type().Elem()))
		at = at.Elem()
	}
	n, _ := strconv.ParseFloat(strings.TrimPrefix(word, "float:"), 64)
	switch at.Kind() {
	case reflect.String:
		at.SetString(cells.One(t, word).Text())
	case reflect.Int64:
		at.SetInt(int64(n))
	case reflect.Float64:
		at.SetFloat(n)
	default:
		at.Set(reflect.ValueOf(cells.One(t, word)))
	}
}

// TestAnswersThatAreNone returns answers that are illegal on the JSON routes.
func TestAnswersThatAreNone(t *testing.T) { answers(t, "none.tsv") }

// TestAnswersAtTheEdge returns the extreme legal ones.
func TestAnswersAtTheEdge(t *testing.T) { answers(t, "edge.tsv") }

// TestGroupBudget checks that as many groups as the limit are refused, never cut.
func TestGroupBudget(t *testing.T) {
	for n, status := range map[int]int{0: 200, 1000: 200, 1001: 422, 5000: 422} {
		s := played(t, "Aggregate: groups "+itoa(n), connector.Options{})
		a := s.post(asked(`/aggregate "groupBy":[] => "groupBy":[{"field":"id","as":"g"}]`))
		if status == 422 {
			a.refuses(t, 422, wire.CodeUnsupported, "more groups than the limit allows; narrow the filters or group by less")
			continue
		}
		assert.Equal(t, 200, a.status)
		assert.Equal(t, n, strings.Count(a.body, `"g":`))
	}
}

// TestAnswerSize checks the limit of 32 MiB, which is checked before the status is written.
func TestAnswerSize(t *testing.T) {
	testrun.Long(t)
	// Digits are copied as they are, which keeps the test quick.
	mega := wire.Decimal(strings.Repeat("7", 1<<20))
	samples := append(slices.Repeat([]wire.Value{mega}, 31), wire.Decimal("7"))
	d := &wire.Discovery{Tables: []wire.Table{{Name: "t",
		Fields: []wire.Field{{Name: "f", Type: wire.TypeDecimal, Samples: samples}}}}}
	s := serve(t, discovering(d), nil)
	frame := len(s.post(asked("/discovery")).body)
	samples[31] = wire.Decimal(strings.Repeat("7", 32<<20-frame+1))
	whole := &discard{}
	s.Handler.ServeHTTP(whole, s.Request(context.Background(), "/discovery", good("/discovery")))
	assert.Equal(t, 200, whole.status)
	assert.Equal(t, 32<<20, whole.bytes)
	d.Tables[0].SourceDescription = "d"
	s.post(asked("/discovery")).is(t, "500")
	assert.Contains(t, s.log.String(), "cause=the source's answer has 33554433 bytes, over the limit of 33554432")
	s.alive()
}
