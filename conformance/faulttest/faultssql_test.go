package faulttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sqlFaults are those of an author who writes SQL.
var sqlFaults = []fault{
	{
		name: "eq ignores case", kind: "spelling", at: of(Label),
		habit: habit{condition: rewritten(after(" COLLATE NOCASE"), wire.OpEq, wire.OpNeq)},
	},
	{
		name: "a prefix is a LIKE whose wildcards are not escaped", kind: "spelling", at: of(Words),
		habit: habit{condition: like(wire.OpStartsWith, "", "%")},
	},
	{
		name: "includes is a LIKE, which ignores case", kind: "spelling", at: of(Label, Words),
		habit: habit{condition: like(wire.OpIncludes, "%", "%")},
	},
	{
		name: "the length of a prefix is in bytes", kind: "encoding", at: of(Words),
		habit: habit{condition: func(f wire.Filter, sql string, args []any) (string, []any) {
			if f.Op == wire.OpStartsWith {
				args = []any{len(f.Value.String()), args[1]}
			}
			return sql, args
		}},
	},
	{
		name: "NOT IN drops nulls", kind: "null handling", at: nulls(Label, Words, Tally, Money, Link, Loose, Day, Moment),
		habit: habit{condition: rewritten(func(sql string) string { return "(" + sql[strings.Index(sql, " OR ")+4:] }, wire.OpNin)},
	},
	{
		name: "IS NOT keeps nulls", kind: "null handling", at: gaps,
		habit: habit{condition: rewritten(replace("<>", "IS NOT"), wire.OpNeq)},
	},
	{
		name: "nulls come first", kind: "null handling", at: gaps,
		habit: habit{sqlOrder: func(term string) string { return term[strings.Index(term, ", ")+2:] }},
	},
	{
		name: "nulls come last only ascending", kind: "null handling", at: gaps,
		habit: habit{sqlOrder: func(term string) string {
			if strings.HasSuffix(term, " DESC") {
				return strings.Replace(term, " IS NULL", " IS NULL DESC", 1)
			}
			return term
		}},
	},
	{
		name: "the sort ignores case", kind: "sorting", at: of(Label),
		make: func(at Site) habit {
			name := "b." + quoted(at.Column)
			return habit{sqlOrder: replace(", "+name, ", lower("+name+")")}
		},
	},
	{
		name: "integers are compared as text", kind: "sorting", at: of(Tally),
		habit: habit{condition: func(f wire.Filter, sql string, args []any) (string, []any) {
			if !slices.Contains([]wire.Op{wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte}, f.Op) {
				return sql, args
			}
			name, op, _ := strings.Cut(sql, `" `)
			return "CAST(" + name + `" AS TEXT) ` + op, []any{f.Value.String()}
		}},
	},
	{
		name: "the offset is one too large", kind: "off by one", at: table,
		habit: habit{window: func(_ bool, offset, limit int64) (int64, int64) {
			if offset > 0 {
				offset++
			}
			return offset, limit
		}},
	},
	{
		name: "lte is <", kind: "off by one", at: of(Tally, Money, Day, Moment, Big),
		habit: habit{condition: rewritten(replace("<=", "<"), wire.OpLte)},
	},
	{
		name: "an instant is compared by its day", kind: "time zones", at: of(Moment),
		habit: habit{condition: rewritten(divided("86400000"), wire.OpGt, wire.OpLte)},
	},
	{
		name: "periods are in local time", kind: "time zones", at: of(Moment),
		habit: habit{sqlKey: replace("'unixepoch'", "'unixepoch', '+1 hour'")},
	},
	{
		name: "quarters begin a month late", kind: "time zones", at: times,
		habit: habit{sqlKey: replace("* 3 + 1)", "* 3 + 2)")},
	},
	{
		name: "an inner join", kind: "joins", at: func(s Site) bool { return linked(s) && (s.Nulls || s.Trait == Loose) },
		habit: habit{sqlJoin: replace("LEFT JOIN", "JOIN")},
	},
	{
		name: "a join that matches null with the first row", kind: "joins", at: linkedWithNulls,
		make: func(at Site) habit {
			return habit{sqlJoin: func(sql string) string {
				join, key, _ := strings.Cut(sql, " ON ")
				left, right, _ := strings.Cut(key, " = ")
				least := fmt.Sprintf("(SELECT min(%s) FROM %s)", quoted(at.TargetColumn), quoted(at.Target))
				return join + " ON " + right + " = coalesce(" + left + ", " + least + ")"
			}}
		},
	},
	{
		name: "a sum is that of rounded values", kind: "rounding", at: of(Money),
		habit: habit{sqlMeasure: measure(func(sql string) string {
			return strings.Replace(sql, "sum(", "sum(10 * round(0.1 * ", 1) + ")"
		}, wire.AggSum)},
	},
	{
		name: "distinct values are counted without case", kind: "aggregates", at: of(Label),
		habit: habit{sqlMeasure: measure(func(sql string) string {
			return strings.Replace(sql, "DISTINCT ", "DISTINCT lower(", 1) + ")"
		}, wire.AggCountDistinct)},
	},
	{
		name: "the least number is that by text", kind: "aggregates", at: of(Tally),
		habit: habit{sqlMeasure: measure(func(sql string) string {
			return "CAST(" + strings.Replace(sql, "(", "('' || ", 1) + " AS INTEGER)"
		}, wire.AggMin, wire.AggMax)},
	},
	{
		name: "a sum over nothing is 0", kind: "null handling", at: nulls(Tally, Money),
		habit: habit{sqlMeasure: measure(around("ifnull(", ", 0)"), wire.AggSum)},
	},
	{
		name: "a view of the first 100 rows", kind: "thresholds", at: long,
		habit: habit{sqlFrom: around("(SELECT * FROM ", " LIMIT 100)")},
	},
	{
		name: "deleted rows are left out of counts only", kind: "measures", at: table,
		habit: habit{sqlCount: func(string) string { return "count(CASE WHEN rowid % 50 THEN 1 END)" }},
	},
	{
		name: "null is read as an empty text", kind: "null handling", at: nulls(Words, Label),
		habit: habit{sqlColumn: around("ifnull(", ", '')")},
	},
	{name: "text is trimmed when it is read", kind: "encoding", at: of(Words), habit: habit{sqlColumn: around("trim(", ")")}},
	{name: "the zone of the server when it is read", kind: "time zones", at: of(Moment), habit: habit{sqlColumn: after(" + 3600000")}},
	{
		name: "an array contains parts of its elements", kind: "filters", at: of(Tags),
		habit: habit{condition: rewritten(replace("value = ?", "instr(lower(value), lower(?))"), wire.OpContains)},
	},
	{
		name: "a count counts a column with nulls", kind: "measures", at: nulls(),
		make: func(at Site) habit {
			return habit{sqlCount: func(string) string { return "count(b." + quoted(at.Column) + ")" }}
		},
	},
	{
		name: "orphans are counted once each", kind: "measures", at: of(Loose),
		make: func(at Site) habit {
			return habit{sqlOrphans: func(req *wire.LinkHitRateRequest, sql string) string {
				if req.FromTable == at.Table && req.FromColumn == at.Column {
					column, from := quoted(at.Column), quoted(at.Table)
					sql += fmt.Sprintf(" AND b.rowid = (SELECT min(o.rowid) FROM %s o WHERE o.%s = b.%s)", from, column, column)
				}
				return sql
			}}
		},
	},
	{
		name: "distinct values of a column are those without case", kind: "measures", at: of(Label),
		habit: habit{sqlDistinct: distinct("upper(", ")")},
	},
	{
		name: "or is read as and", kind: "filters", at: table,
		habit: habit{where: func(w wire.Where) wire.Where {
			w.And, w.Or = slices.Concat(w.And, slices.Concat(w.Or...)), nil
			return w
		}},
	},
	{
		name: "lists are cut after 100 members", kind: "thresholds", at: of(Words, Big, Code, Moment),
		habit: habit{condition: func(f wire.Filter, sql string, args []any) (string, []any) {
			if f.Op != wire.OpIn && f.Op != wire.OpNin || len(args) <= 100 {
				return sql, args
			}
			return strings.Replace(sql, strings.Repeat(", ?", len(args)-100), "", 1), args[:100]
		}},
	},
}

// moreSQLFaults are further ones.
var moreSQLFaults = []fault{
	{
		name: "integers are sorted as text", kind: "sorting", at: of(Tally, Key),
		make: func(at Site) habit {
			name := "b." + quoted(at.Column)
			return habit{sqlOrder: replace(", "+name, ", CAST("+name+" AS TEXT)")}
		},
	},
	{
		name: "a query without a limit has one", kind: "thresholds", at: long,
		habit: habit{window: func(_ bool, offset, limit int64) (int64, int64) {
			if limit == 0 {
				limit = 100
			}
			return offset, limit
		}},
	},
	{
		name: "a join compares with the number of the row", kind: "joins", at: linked,
		make: func(at Site) habit { return habit{sqlJoin: replace("."+quoted(at.TargetColumn), ".rowid")} },
	},
	{
		name: "a sum is that of distinct values", kind: "aggregates", at: of(Tally, Money),
		habit: habit{sqlMeasure: measure(replace("sum(", "sum(DISTINCT "), wire.AggSum)},
	},
	{name: "groups ignore case", kind: "aggregates", at: of(Label), habit: habit{sqlKey: around("lower(", ")")}},
	{
		name: "a group of nulls is that of the empty text", kind: "null handling", at: nulls(Label, Words),
		habit: habit{sqlKey: around("coalesce(", ", '')")},
	},
	{
		name: "days begin at noon", kind: "time zones", at: of(Moment),
		habit: habit{sqlKey: replace("/ 1000.0", "/ 1000.0 + 43200")},
	},
	{name: "money is read in whole tenths", kind: "rounding", at: of(Money), habit: habit{sqlColumn: after(" / 10 * 10")}},
	{
		name: "carriage returns are lost when read", kind: "encoding", at: of(Words),
		habit: habit{sqlColumn: around("replace(", ", char(13), '')")},
	},
	{
		name: "in finds nulls", kind: "null handling", at: nulls(Label, Words, Tally, Money, Day),
		make: func(at Site) habit {
			return habit{condition: rewritten(around("(", " OR b."+quoted(at.Column)+" IS NULL)"), wire.OpIn)}
		},
	},
	{
		name: "NOT IN over a column with nulls finds no orphan", kind: "measures", at: linkedWithNulls,
		make: func(at Site) habit {
			return habit{sqlOrphans: func(req *wire.LinkHitRateRequest, sql string) string {
				if req.ToTable == at.Table && req.ToColumn == at.Column {
					sql = fmt.Sprintf("b.%s NOT IN (SELECT %s FROM %s)", quoted(req.FromColumn), quoted(at.Column), quoted(at.Table))
				}
				return sql
			}}
		},
	},
	{
		name: "distinct values are told by their beginnings", kind: "measures", at: of(Words, Code),
		habit: habit{sqlDistinct: distinct("substr(", ", 1, 6)")},
	},
	{
		name: "a prefix ignores case", kind: "spelling", at: of(Label, Words),
		habit: habit{condition: rewritten(after(" COLLATE NOCASE"), wire.OpStartsWith)},
	},
	{
		name: "not equal is true for one case of two", kind: "spelling", at: of(Label),
		habit: habit{condition: rewritten(after(" COLLATE NOCASE"), wire.OpNeq)},
	},
	{
		name: "an instant is compared in seconds", kind: "time zones", at: of(Moment),
		habit: habit{condition: rewritten(divided("1000"), wire.OpEq, wire.OpGt)},
	},
}

// rewritten changes the conditions of some operators.
func rewritten(change func(string) string, ops ...wire.Op) func(wire.Filter, string, []any) (string, []any) {
	return func(f wire.Filter, sql string, args []any) (string, []any) {
		if slices.Contains(ops, f.Op) && len(args) > 0 {
			sql = change(sql)
		}
		return sql, args
	}
}

// like turns the conditions of an operator into a LIKE.
func like(op wire.Op, before, after string) func(wire.Filter, string, []any) (string, []any) {
	return func(f wire.Filter, sql string, args []any) (string, []any) {
		if f.Op == op {
			return "b." + quoted(f.Field) + " LIKE ?", []any{before + f.Value.String() + after}
		}
		return sql, args
	}
}

// measure changes the expressions of some functions.
func measure(change func(string) string, fns ...wire.AggFunc) func(wire.AggFunc, string) string {
	return func(fn wire.AggFunc, sql string) string {
		if slices.Contains(fns, fn) {
			sql = change(sql)
		}
		return sql
	}
}

// divided compares both sides as whole numbers of a unit.
func divided(unit string) func(string) string {
	return func(sql string) string {
		name, op, _ := strings.Cut(sql, `" `)
		return fmt.Sprintf(`%s" / %s %s / %s`, name, unit, op, unit)
	}
}

// distinct counts what becomes of the column.
func distinct(before, after string) func(string) string {
	return func(sql string) string {
		return strings.TrimSuffix(strings.Replace(sql, "DISTINCT ", "DISTINCT "+before, 1), ")") + after + ")"
	}
}

func around(before, after string) func(string) string {
	return func(sql string) string { return before + sql + after }
}

func after(more string) func(string) string { return around("", more) }

func replace(old, other string) func(string) string {
	return func(sql string) string { return strings.ReplaceAll(sql, old, other) }
}
