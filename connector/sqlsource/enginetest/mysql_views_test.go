package enginetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLMixedCollations asks everything of views whose columns are made of texts of two
// collations, which the server compares with nothing that does not say how. The
// tenant verifies every answer.
func TestMySQLMixedCollations(t *testing.T) {
	t.Parallel()
	db := newMySQL(t)
	for _, statement := range []string{
		`CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10) COLLATE utf8mb4_general_ci, b VARCHAR(10) COLLATE utf8mb4_unicode_ci,
			bin VARCHAR(20) COLLATE utf8mb4_bin, latin VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_german1_ci,
			latin2 VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_general_ci, KEY (bin))`,
		`INSERT INTO t VALUES (1, 'x', 'y', 'xy', 'é', ''), (2, 'X', 'y', 'Xy', 'E', 'é'), (3, NULL, 'y', 'xy ', NULL, 'é'),
			(4, '', '', '', '', ''), (5, '1', '2', '12', '1', ''), (6, 'x', 'y', '😀', 'é', '')`,
		`CREATE VIEW v AS SELECT id, CONCAT(a, b) AS joined, COALESCE(a, b) AS either, IF(id < 3, a, b) AS chosen,
			CONCAT(latin, latin2) AS latin, CONCAT(a, latin) AS wide, bin AS plain, CONCAT(a, bin) AS bins FROM t`,
	} {
		db.execute(t, statement)
	}
	tenant := db.caller(t, nil)
	texts := []string{"joined", "either", "chosen", "latin", "wide", "plain", "bins"}
	operands := []wire.Value{wire.Text("xy"), wire.Text("é"), wire.Text("😀"), wire.Int(12)}
	for _, field := range texts {
		t.Run(field, func(t *testing.T) {
			tenant := tenant.In(t)
			var filters []wire.Filter
			for _, operand := range operands {
				for _, op := range []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpLte, wire.OpIncludes, wire.OpStartsWith} {
					filters = append(filters, wire.Filter{Field: field, Op: op, Value: operand})
				}
			}
			for _, op := range []wire.Op{wire.OpIn, wire.OpNin} {
				filters = append(filters, wire.Filter{Field: field, Op: op, Values: operands})
			}
			for _, f := range filters {
				_, err := tenant.Query(wire.QueryRequest{
					Table: "v", Where: wire.Where{And: []wire.Filter{f}}, Fields: []string{"id"},
					Sort: []wire.SortKey{{Field: field, Dir: wire.Desc}}, Limit: 3,
				})
				assert.NoError(t, err, "%v", f)
			}
			_, err := tenant.Aggregate(wire.AggregateRequest{Table: "v", GroupBy: []wire.GroupKey{{Field: field, As: "k"}}, Measures: []wire.Measure{
				{Fn: wire.AggCountDistinct, Field: field, As: "d"}, {Fn: wire.AggMin, Field: field, As: "min"}, {Fn: wire.AggMax, Field: field, As: "max"},
			}})
			require.NoError(t, err)
			counts, err := tenant.Cardinality("v", field)
			require.NoError(t, err)
			assert.NotNil(t, counts[field])
			for _, to := range []struct{ table, field string }{
				{"v", "joined"}, {"v", "latin"}, {"v", "plain"}, {"t", "a"}, {"t", "bin"}, {"t", "id"},
			} {
				for _, link := range []wire.LinkHitRateRequest{
					{FromTable: "v", FromColumn: field, ToTable: to.table, ToColumn: to.field},
					{FromTable: to.table, FromColumn: to.field, ToTable: "v", ToColumn: field},
				} {
					_, err := tenant.LinkHitRate(link)
					assert.NoError(t, err, "%v", link)
					hop := []wire.JoinHop{{
						FromTable: link.FromTable, FromField: link.FromColumn, ToTable: link.ToTable, ToField: link.ToColumn,
						Fields: []wire.JoinField{{Field: "id", As: "other", Type: wire.TypeNumber}},
					}}
					_, err = tenant.Query(wire.QueryRequest{Table: link.FromTable, Joins: hop, Sort: []wire.SortKey{}, Fields: []string{"id"}})
					assert.NoError(t, err, "%v", link)
				}
			}
		})
	}
	d, err := tenant.Discover()
	require.NoError(t, err)
	assert.Empty(t, d.Warnings)
}
