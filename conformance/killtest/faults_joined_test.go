package killtest

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// joinedFaults returns connectors that treat joined rows, empty groups and letters
// beyond ASCII as many upstreams do.
func joinedFaults() []fault {
	right := newOracleSource(twist{})
	// inner drops the rows without a match from an aggregate.
	inner := func(req *wire.AggregateRequest) {
		if len(req.Joins) > 0 && len(req.GroupBy) == 0 {
			matched := slices.Clone(req.And)
			for _, j := range req.Joins {
				keys := column(right.tables[j.ToTable], j.ToField)
				matched = append(matched, wire.Filter{Field: j.FromField, Op: wire.OpIn, Values: keys})
			}
			req.And = matched
		}
	}
	// beginning folds both sides of startswith.
	beginning := func(fold func(string) string) twist {
		return operator(wire.OpStartsWith, func(cell wire.Value, f wire.Filter, _ bool) bool {
			return !cell.IsNull() && !f.Value.IsNull() && strings.HasPrefix(fold(cell.String()), fold(f.Value.String()))
		})
	}
	beyond := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < 0x80 {
				return r
			}
			return []rune(strings.ToLower(string(r)))[0]
		}, s)
	}
	return []fault{
		bent("aggregates forget their joins", "a wrong number is never legal", "P2.18: joined rows",
			twist{aggregate: func(req *wire.AggregateRequest) { req.Joins = nil }}),
		bent("aggregates join inside", "a row without a match stays", "P2.18: joined rows", twist{aggregate: inner}),
		bent("aggregates with joins forget their filters", "an aggregate holds its filters", "P2.18: filters",
			twist{aggregate: func(req *wire.AggregateRequest) {
				if len(req.Joins) > 0 {
					req.And = nil
				}
			}}),
		bent("the last group of joined rows is lost", "every group is answered", "P2.18: filters",
			twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
				if len(req.Joins) > 0 && len(req.And) > 0 && len(t.Rows) > 1 {
					t.Rows = t.Rows[:len(t.Rows)-1]
				}
			}}),
		bent("joined rows that look alike are one", "a key with several matches gives several rows", "P2.15: several matches",
			twist{joined: func(req *connector.Query, t *oracle.Table) {
				asked := append(slices.Clone(req.Fields), req.Joins[0].Fields[0].As)
				seen := map[string]bool{}
				t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool {
					text := ""
					for _, name := range asked {
						text += row[t.Index(name)].String() + "\x00"
					}
					again := seen[text]
					seen[text] = true
					return again
				})
			}}),
		bent("startswith folds beyond ASCII", "a prefix compares by bytes", "P2.3: startswith", beginning(beyond)),
		bent("startswith unescapes", "a backslash is a backslash", "P2.3: startswith",
			beginning(func(s string) string { return strings.ReplaceAll(s, `\`, "") })),
		bent("a first empty group is no group", "an empty group is true", "P2.4: an empty or",
			twist{passes: func(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool {
				if len(or) > 1 && len(or[0]) == 0 {
					or = or[1:]
				}
				return rightly(and, or, holds)
			}}),
		bent("a first empty group is no group of an aggregate", "an empty group is true", "P2.11: filters",
			twist{aggregate: func(req *wire.AggregateRequest) {
				if len(req.Or) > 1 && len(req.Or[0]) == 0 {
					req.Or = req.Or[1:]
				}
			}}),
	}
}
