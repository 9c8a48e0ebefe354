package faulttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sqlFaults returns those of an author who writes SQL.
func sqlFaults() []Fault {
	return []Fault{
		{
			Name: "eq ignores case", Kind: "spelling", At: of(Label),
			SQL: func(at Site) SQL { return SQL{Condition: at.sql(after(" COLLATE NOCASE"), wire.OpEq, wire.OpNeq)} },
		},
		{
			Name: "a prefix is a LIKE whose wildcards are not escaped", Kind: "spelling", At: of(Words),
			SQL: func(at Site) SQL {
				return SQL{Condition: at.like(func(operand string) string { return operand + "%" }, wire.OpStartsWith)}
			},
		},
		{
			Name: "includes is a LIKE, which ignores case", Kind: "spelling", At: of(Label, Words),
			SQL: func(at Site) SQL {
				return SQL{Condition: at.like(func(operand string) string { return "%" + operand + "%" }, wire.OpIncludes)}
			},
		},
		{
			Name: "the length of a prefix is in bytes", Kind: "encoding", At: of(Words),
			SQL: func(at Site) SQL {
				bytes := func(f wire.Filter, args []any) []any { return []any{len(f.Value.String()), args[1]} }
				return SQL{Condition: at.bound(bytes, wire.OpStartsWith)}
			},
		},
		{
			Name: "NOT IN drops nulls", Kind: "null handling", At: nulls(Label, Words, Tally, Money, Link, Loose, Day, Moment),
			SQL: func(at Site) SQL {
				return SQL{Condition: at.sql(func(sql string) string {
					return "(" + sql[strings.Index(sql, " OR ")+4:]
				}, wire.OpNin)}
			},
		},
		{
			Name: "IS NOT keeps nulls", Kind: "null handling", At: gaps,
			SQL: func(at Site) SQL { return SQL{Condition: at.sql(replace("<>", "IS NOT"), wire.OpNeq)} },
		},
		{
			Name: "nulls come first", Kind: "null handling", At: gaps,
			SQL: func(at Site) SQL {
				return SQL{Order: at.order(func(term string) string { return term[strings.Index(term, ", ")+2:] })}
			},
		},
		{
			Name: "nulls come last only ascending", Kind: "null handling", At: gaps,
			SQL: func(at Site) SQL {
				return SQL{Order: at.order(func(term string) string {
					if strings.HasSuffix(term, " DESC") {
						return strings.Replace(term, " IS NULL", " IS NULL DESC", 1)
					}
					return term
				})}
			},
		},
		{
			Name: "the sort ignores case", Kind: "sorting", At: of(Label),
			SQL: func(at Site) SQL {
				name := "b." + quoted(at.Column)
				return SQL{Order: at.order(replace(", "+name, ", lower("+name+")"))}
			},
		},
		{
			Name: "integers are compared as text", Kind: "sorting", At: of(Tally),
			SQL: func(at Site) SQL {
				return SQL{Condition: func(t *wire.Table, f wire.Filter, sql string, args []any) (string, []any) {
					if !at.has(t.Name, f, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte) {
						return sql, args
					}
					name, op, _ := strings.Cut(sql, `" `)
					return "CAST(" + name + `" AS TEXT) ` + op, []any{f.Value.String()}
				}}
			},
		},
		{
			Name: "the offset is one too large", Kind: "off by one", At: table,
			SQL: func(at Site) SQL {
				return SQL{Window: func(table string, offset, limit int64) (int64, int64) {
					if table == at.Table && offset > 0 {
						offset++
					}
					return offset, limit
				}}
			},
		},
		{
			Name: "lte is <", Kind: "off by one", At: of(Tally, Money, Day, Moment, Big),
			SQL: func(at Site) SQL { return SQL{Condition: at.sql(replace("<=", "<"), wire.OpLte)} },
		},
		{
			Name: "an instant is compared by its day", Kind: "time zones", At: of(Moment),
			SQL: func(at Site) SQL {
				return SQL{Condition: at.sql(func(sql string) string {
					name, op, _ := strings.Cut(sql, `" `)
					return fmt.Sprintf(`%s" / 86400000 %s / 86400000`, name, op)
				}, wire.OpGt, wire.OpLte)}
			},
		},
		{
			Name: "periods are in local time", Kind: "time zones", At: of(Moment),
			SQL: func(at Site) SQL {
				return SQL{Key: at.key(replace("'unixepoch'", "'unixepoch', '+1 hour'"))}
			},
		},
		{
			Name: "quarters begin a month late", Kind: "time zones", At: times,
			SQL: func(at Site) SQL { return SQL{Key: at.key(replace("* 3 + 1)", "* 3 + 2)"))} },
		},
		{
			Name: "an inner join", Kind: "joins", At: func(s Site) bool { return linked(s) && (s.Nulls || s.Trait == Loose) },
			SQL: func(at Site) SQL { return SQL{Join: at.join(replace("LEFT JOIN", "JOIN"))} },
		},
		{
			Name: "a join that matches null with the first row", Kind: "joins",
			At: func(s Site) bool { return linked(s) && s.Nulls },
			SQL: func(at Site) SQL {
				return SQL{Join: at.join(func(sql string) string {
					join, key, _ := strings.Cut(sql, " ON ")
					left, right, _ := strings.Cut(key, " = ")
					least := fmt.Sprintf("(SELECT min(%s) FROM %s)", quoted(at.TargetColumn), quoted(at.Target))
					return join + " ON " + right + " = coalesce(" + left + ", " + least + ")"
				})}
			},
		},
		{
			Name: "a sum is that of rounded values", Kind: "rounding", At: of(Money),
			SQL: func(at Site) SQL {
				round := func(sql string) string { return strings.Replace(sql, "sum(", "sum(10 * round(0.1 * ", 1) + ")" }
				return SQL{Measure: at.measure(round, wire.AggSum)}
			},
		},
		{
			Name: "distinct values are counted without case", Kind: "aggregates", At: of(Label),
			SQL: func(at Site) SQL {
				lower := func(sql string) string { return strings.Replace(sql, "DISTINCT ", "DISTINCT lower(", 1) + ")" }
				return SQL{Measure: at.measure(lower, wire.AggCountDistinct)}
			},
		},
		{
			Name: "the least number is that by text", Kind: "aggregates", At: of(Tally),
			SQL: func(at Site) SQL {
				return SQL{Measure: at.measure(func(sql string) string {
					return "CAST(" + strings.Replace(sql, "(", "('' || ", 1) + " AS INTEGER)"
				}, wire.AggMin, wire.AggMax)}
			},
		},
		{
			Name: "a sum over nothing is 0", Kind: "null handling", At: nulls(Tally, Money),
			SQL: func(at Site) SQL {
				return SQL{Measure: at.measure(func(sql string) string { return "ifnull(" + sql + ", 0)" }, wire.AggSum)}
			},
		},
		{
			Name: "a view of the first 100 rows", Kind: "thresholds", At: long,
			SQL: func(at Site) SQL {
				return SQL{From: func(table, sql string) string {
					if table == at.Table {
						sql = "(SELECT * FROM " + sql + " LIMIT 100)"
					}
					return sql
				}}
			},
		},
		{
			Name: "deleted rows are left out of counts only", Kind: "measures", At: table,
			SQL: func(at Site) SQL {
				return SQL{Count: func(table, sql string) string {
					if table == at.Table {
						return "count(CASE WHEN rowid % 50 THEN 1 END)"
					}
					return sql
				}}
			},
		},
		{
			Name: "null is read as an empty text", Kind: "null handling", At: nulls(Words, Label),
			SQL: func(at Site) SQL {
				return SQL{Column: at.column(func(sql string) string { return "ifnull(" + sql + ", '')" })}
			},
		},
		{
			Name: "text is trimmed when it is read", Kind: "encoding", At: of(Words),
			SQL: func(at Site) SQL {
				return SQL{Column: at.column(func(sql string) string { return "trim(" + sql + ")" })}
			},
		},
		{
			Name: "the zone of the server when it is read", Kind: "time zones", At: of(Moment),
			SQL: func(at Site) SQL {
				return SQL{Column: at.column(func(sql string) string { return sql + " + 3600000" })}
			},
		},
		{
			Name: "an array contains parts of its elements", Kind: "filters", At: of(Tags),
			SQL: func(at Site) SQL {
				return SQL{Condition: at.sql(replace("value = ?", "instr(lower(value), lower(?))"), wire.OpContains)}
			},
		},
		{
			Name: "a count counts a column with nulls", Kind: "measures", At: nulls(),
			SQL: func(at Site) SQL {
				return SQL{Count: func(table, sql string) string {
					if table == at.Table {
						return "count(b." + quoted(at.Column) + ")"
					}
					return sql
				}}
			},
		},
		{
			Name: "orphans are counted once each", Kind: "measures", At: of(Loose),
			SQL: func(at Site) SQL {
				return SQL{Orphans: func(req *wire.LinkHitRateRequest, sql string) string {
					if req.FromTable == at.Table && req.FromColumn == at.Column {
						column, from := quoted(at.Column), quoted(at.Table)
						sql += fmt.Sprintf(" AND b.rowid = (SELECT min(o.rowid) FROM %s o WHERE o.%s = b.%s)", from, column, column)
					}
					return sql
				}}
			},
		},
		{
			Name: "distinct values of a column are those without case", Kind: "measures", At: of(Label),
			SQL: func(at Site) SQL {
				return SQL{Distinct: func(table, column, nonNull, distinct string) (string, string) {
					if table == at.Table && column == at.Column {
						distinct = "count(DISTINCT upper(b." + quoted(column) + "))"
					}
					return nonNull, distinct
				}}
			},
		},
		{
			Name: "or is read as and", Kind: "filters", At: table,
			SQL: func(at Site) SQL {
				return SQL{Where: func(table string, w wire.Where) wire.Where {
					if table == at.Table {
						w.And, w.Or = slices.Concat(w.And, slices.Concat(w.Or...)), nil
					}
					return w
				}}
			},
		},
		{
			Name: "lists are cut after 100 members", Kind: "thresholds", At: of(Words, Big, Code, Moment),
			SQL: func(at Site) SQL {
				return SQL{Condition: func(t *wire.Table, f wire.Filter, sql string, args []any) (string, []any) {
					if !at.has(t.Name, f, wire.OpIn, wire.OpNin) || len(args) <= 100 {
						return sql, args
					}
					return strings.Replace(sql, strings.Repeat(", ?", len(args)-100), "", 1), args[:100]
				}}
			},
		},
	}
}

// sql changes the conditions of some operators of the site.
func (s Site) sql(change func(string) string, ops ...wire.Op) rewrite {
	return func(t *wire.Table, f wire.Filter, sql string, args []any) (string, []any) {
		if s.has(t.Name, f, ops...) && len(args) > 0 {
			sql = change(sql)
		}
		return sql, args
	}
}

// like turns the site's conditions into a LIKE.
func (s Site) like(pattern func(string) string, op wire.Op) rewrite {
	return func(t *wire.Table, f wire.Filter, sql string, args []any) (string, []any) {
		if s.has(t.Name, f, op) {
			return "b." + quoted(f.Field) + " LIKE ?", []any{pattern(f.Value.String())}
		}
		return sql, args
	}
}

// bound changes the arguments of the site's conditions.
func (s Site) bound(change func(wire.Filter, []any) []any, ops ...wire.Op) rewrite {
	return func(t *wire.Table, f wire.Filter, sql string, args []any) (string, []any) {
		if s.has(t.Name, f, ops...) && len(args) > 0 {
			args = change(f, args)
		}
		return sql, args
	}
}

// order changes the term that sorts by the site.
func (s Site) order(change func(string) string) func(table string, key wire.SortKey, sql string) string {
	return func(table string, key wire.SortKey, sql string) string {
		if table == s.Table && key.Field == s.Column {
			sql = change(sql)
		}
		return sql
	}
}

// key changes the expression that groups by the site.
func (s Site) key(change func(string) string) func(table string, key wire.GroupKey, sql string) string {
	return func(table string, key wire.GroupKey, sql string) string {
		if table == s.Table && key.Field == s.Column {
			sql = change(sql)
		}
		return sql
	}
}

// measure changes the expression of a measure of the site.
func (s Site) measure(
	change func(string) string, fns ...wire.AggFunc,
) func(table string, m wire.Measure, sql string) string {
	return func(table string, m wire.Measure, sql string) string {
		for _, fn := range fns {
			if table == s.Table && m.Field == s.Column && m.Fn == fn {
				sql = change(sql)
			}
		}
		return sql
	}
}

// join changes the hops that begin at the site.
func (s Site) join(change func(string) string) func(hop wire.JoinHop, sql string) string {
	return func(hop wire.JoinHop, sql string) string {
		if hop.FromTable == s.Table && hop.FromField == s.Column {
			sql = change(sql)
		}
		return sql
	}
}

// column changes the expression that reads the site.
func (s Site) column(change func(string) string) func(table, column, sql string) string {
	return func(table, column, sql string) string {
		if table == s.Table && column == s.Column {
			sql = change(sql)
		}
		return sql
	}
}

func after(more string) func(string) string { return func(sql string) string { return sql + more } }

func replace(old, other string) func(string) string {
	return func(sql string) string { return strings.ReplaceAll(sql, old, other) }
}
