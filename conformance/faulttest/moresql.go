package faulttest

import (
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// moreSQLFaults returns further ones of an author who writes SQL.
func moreSQLFaults() []Fault {
	return []Fault{
		{
			Name: "integers are sorted as text", Kind: "sorting", At: of(Tally, Key),
			SQL: func(at Site) SQL {
				name := "b." + quoted(at.Column)
				return SQL{Order: at.order(replace(", "+name, ", CAST("+name+" AS TEXT)"))}
			},
		},
		{
			Name: "a query without a limit has one", Kind: "thresholds", At: long,
			SQL: func(at Site) SQL {
				return SQL{Window: func(table string, offset, limit int64) (int64, int64) {
					if table == at.Table && limit == 0 {
						limit = 100
					}
					return offset, limit
				}}
			},
		},
		{
			Name: "a join compares with the number of the row", Kind: "joins", At: linked,
			SQL: func(at Site) SQL {
				return SQL{Join: at.join(replace("."+quoted(at.TargetColumn), ".rowid"))}
			},
		},
		{
			Name: "a sum is that of distinct values", Kind: "aggregates", At: of(Tally, Money),
			SQL: func(at Site) SQL { return SQL{Measure: at.measure(replace("sum(", "sum(DISTINCT "), wire.AggSum)} },
		},
		{
			Name: "groups ignore case", Kind: "aggregates", At: of(Label),
			SQL: func(at Site) SQL { return SQL{Key: at.key(func(sql string) string { return "lower(" + sql + ")" })} },
		},
		{
			Name: "a group of nulls is that of the empty text", Kind: "null handling", At: nulls(Label, Words),
			SQL: func(at Site) SQL {
				return SQL{Key: at.key(func(sql string) string { return "coalesce(" + sql + ", '')" })}
			},
		},
		{
			Name: "days begin at noon", Kind: "time zones", At: of(Moment),
			SQL: func(at Site) SQL { return SQL{Key: at.key(replace("/ 1000.0", "/ 1000.0 + 43200"))} },
		},
		{
			Name: "money is read in whole tenths", Kind: "rounding", At: of(Money),
			SQL: func(at Site) SQL {
				return SQL{Column: at.column(func(sql string) string { return sql + " / 10 * 10" })}
			},
		},
		{
			Name: "carriage returns are lost when read", Kind: "encoding", At: of(Words),
			SQL: func(at Site) SQL {
				return SQL{Column: at.column(func(sql string) string { return "replace(" + sql + ", char(13), '')" })}
			},
		},
		{
			Name: "in finds nulls", Kind: "null handling", At: nulls(Label, Words, Tally, Money, Day),
			SQL: func(at Site) SQL {
				return SQL{Condition: at.sql(func(sql string) string {
					return "(" + sql + " OR b." + quoted(at.Column) + " IS NULL)"
				}, wire.OpIn)}
			},
		},
		{
			Name: "NOT IN over a column with nulls finds no orphan", Kind: "measures",
			At: func(s Site) bool { return linked(s) && s.Nulls },
			SQL: func(at Site) SQL {
				return SQL{Orphans: func(req *wire.LinkHitRateRequest, sql string) string {
					if req.ToTable == at.Table && req.ToColumn == at.Column {
						sql = fmt.Sprintf("b.%s NOT IN (SELECT %s FROM %s)", quoted(req.FromColumn), quoted(at.Column), quoted(at.Table))
					}
					return sql
				}}
			},
		},
		{
			Name: "distinct values are told by their beginnings", Kind: "measures", At: of(Words, Code),
			SQL: func(at Site) SQL {
				return SQL{Distinct: func(table, column, nonNull, distinct string) (string, string) {
					if table == at.Table && column == at.Column {
						distinct = "count(DISTINCT substr(b." + quoted(column) + ", 1, 6))"
					}
					return nonNull, distinct
				}}
			},
		},
		{
			Name: "a prefix ignores case", Kind: "spelling", At: of(Label, Words),
			SQL: func(at Site) SQL { return SQL{Condition: at.sql(after(" COLLATE NOCASE"), wire.OpStartsWith)} },
		},
		{
			Name: "not equal is true for one case of two", Kind: "spelling", At: of(Label),
			SQL: func(at Site) SQL { return SQL{Condition: at.sql(after(" COLLATE NOCASE"), wire.OpNeq)} },
		},
		{
			Name: "an instant is compared in seconds", Kind: "time zones", At: of(Moment),
			SQL: func(at Site) SQL {
				return SQL{Condition: at.sql(func(sql string) string {
					name, op, _ := strings.Cut(sql, `" `)
					return fmt.Sprintf(`%s" / 1000 %s / 1000`, name, op)
				}, wire.OpEq, wire.OpGt)}
			},
		},
	}
}
