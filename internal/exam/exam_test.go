package exam

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// ofCorpus returns a generator over the corpus as it stands, for a connector that
// declares everything.
func ofCorpus(seed uint64) *Generator {
	document := declaring(wire.Capabilities{
		Operators: terms.Operators[wire.Op](), Sort: wire.SortMulti, Offset: true, DateBucket: true,
	})
	var list []*Subject
	for _, t := range corpus.Tables() {
		list = append(list, NewSubject(&oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: t.Rows}, &t.Table))
	}
	return New(seed, document, list)
}

// declaring returns the document of a connector with some capabilities.
func declaring(capabilities wire.Capabilities) *Declared {
	return &Declared{wire.Document{Capabilities: capabilities}}
}

// TestPackedCoverEverything: nine of ten operators on types whose answers tell rows apart are asked,
// within as many questions as the check asks, whatever the seed.
func TestPackedCoverEverything(t *testing.T) {
	for seed := range uint64(testrun.Rounds(5)) {
		g := ofCorpus(seed)
		there, asked := map[string]bool{}, map[string]int{} // by operator and type
		count := func(s *Subject, f wire.Filter) string { return string(f.Op) + " " + string(s.column(f.Field).Type) }
		for _, s := range g.subjects {
			for _, f := range g.pool(s, KeepAll).filters {
				there[count(s, f)] = true
			}
		}
		const questions = 130
		for _, q := range g.Packed()[:questions] {
			for f := range q.Filters() {
				asked[count(q.Subject, f)]++
			}
		}
		missing := 0
		for pair := range there {
			if asked[pair] == 0 {
				missing++
			}
		}
		require.Greater(t, len(there), 100)
		require.LessOrEqual(t, 10*missing, len(there), "seed %d", seed)
	}
}
