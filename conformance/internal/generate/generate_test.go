package generate

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ofCorpus returns a generator over the corpus as it stands, for a connector that
// declares everything.
func ofCorpus(seed uint64, id string) *Generator {
	document := declaring(wire.Capabilities{
		Operators: []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpIn, wire.OpNin,
			wire.OpContains, wire.OpIncludes, wire.OpStartsWith, wire.OpIsNull, wire.OpNotNull},
		Sort: wire.SortMulti, Offset: true, DateBucket: true,
	})
	var list []*Subject
	for _, t := range corpus.Tables() {
		list = append(list, NewSubject(&oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: t.Rows}, &t.Table))
	}
	return New(seed, id, document, list)
}

// declaring returns the document of a connector with some capabilities.
func declaring(capabilities wire.Capabilities) *session.Document {
	return &session.Document{Document: wire.Document{Capabilities: capabilities}}
}

// TestFiltersCoverEverything: every operator is asked on every type with operands of several
// kinds, whatever the seed.
func TestFiltersCoverEverything(t *testing.T) {
	types := []wire.Type{wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean, wire.TypeDate,
		wire.TypeDatetime, wire.TypeJSON, wire.TypeArray, wire.TypeReference}
	for seed := range uint64(5) {
		g := ofCorpus(seed, "P2.17a")
		filters := map[string]int{} // by operator and type
		each := g.ofEach()
		for s, list := range each {
			for _, f := range list {
				filters[string(f.Op)+" "+string(s.column(f.Field).Type)]++
			}
		}
		for _, op := range g.operators() {
			for _, kind := range types {
				least := 2 // of each of two columns
				if terms.ShapeOf(op) == terms.ShapeNullary {
					least = 1
				}
				require.GreaterOrEqual(t, filters[string(op)+" "+string(kind)], least, "seed %d: %s %s", seed, op, kind)
			}
		}
		const questions = 130 // as many as the check asks
		list := ofCorpus(seed, "P2.17a").Filters(questions)
		require.InDelta(t, questions, len(list), 30)
		for s, filters := range each {
			for _, f := range filters {
				require.True(t, slices.ContainsFunc(list, func(q *Question) bool {
					return q.Table.Name == s.Table.Name && slices.ContainsFunc(slices.Collect(q.Filters()), func(other wire.Filter) bool {
						return reflect.DeepEqual(other, f)
					})
				}), "seed %d: nothing asks %v", seed, f)
			}
		}
	}
}

// TestBesideOthers: one wrong answer beside others may be data that moved there and back; several are
// the connector's.
func TestBesideOthers(t *testing.T) {
	a := &Runner{beside: besideOthers - 1, wrongBeside: &Complaint{Finding: check.Fail("57 rows are counted as 114")}}
	require.Nil(t, a.Beside())
	a.beside++
	require.Equal(t, "3 answers were wrong beside other requests, and right when they were asked for alone; the first: 57 rows are counted as 114",
		a.Beside().Detail)
}
