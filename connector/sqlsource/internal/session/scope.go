package session

import (
	"context"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Scope is a part of a relation: the rows that may meet some of a request's
// filters. The exact condition of a filter on a column with a Guard may misjudge
// values, its Near does not.
type Scope struct {
	*Relation
	filters []wire.Filter // joined by and
}

// Within returns the part of a relation outside which no row meets the request's
// filters, whatever values it has. Filters in groups of or do not limit it, nor do
// those that the library evaluates.
func (r *Relation) Within(pushed wire.Where) Scope { return Scope{r, pushed.And} }

// conditions returns the conditions that select the scope's rows.
func (s Scope) conditions(b *sqltext.Builder) []string {
	var conditions []string
	for _, f := range s.filters {
		c := s.Column(f.Field)
		var condition string
		if c.Loose.Guard == "" || c.Loose.Guard == sqltext.False || f.Op == wire.OpIsNull || f.Op == wire.OpNotNull {
			condition, _ = b.Condition(c, f)
		} else {
			condition = b.Near(c, f)
		}
		if condition != "" {
			conditions = append(conditions, condition)
		}
	}
	return conditions
}

// NoneMatch reports whether no row of r meets any of these conditions. Empty
// conditions are met by none.
func (x *Session) NoneMatch(ctx context.Context, r *Relation, conditions ...string) (bool, error) {
	return x.NoneAmong(ctx, Scope{Relation: r}, conditions...)
}

// NoneAmong reports whether no row of the scope meets any of these conditions.
func (x *Session) NoneAmong(ctx context.Context, r Scope, conditions ...string) (bool, error) {
	slices.Sort(conditions) // one set of conditions makes one statement
	conditions = slices.DeleteFunc(slices.Compact(conditions), func(c string) bool { return c == "" || c == sqltext.False })
	if len(conditions) == 0 {
		return true, nil
	}
	b := x.Builder()
	statement := b.Query("1", sqltext.Window{Limit: 1}, func() string {
		among := append(r.conditions(b), "("+strings.Join(conditions, " OR ")+")")
		return " FROM " + r.From + " WHERE " + strings.Join(among, " AND ")
	})
	found, err := x.Finds(ctx, r.Name, statement, b.Args)
	return err == nil && !found, err
}

// AllAlike reports whether no row of the scope meets a condition that costs less than
// those of the scope, and so is tried first.
func (x *Session) AllAlike(ctx context.Context, r Scope, unlike string) (bool, error) {
	b := x.Builder()
	statement := b.Query("1", sqltext.Window{Limit: 1}, func() string {
		return " FROM " + r.From + " WHERE " + strings.Join(append([]string{unlike}, r.conditions(b)...), " AND ")
	})
	found, err := x.Finds(ctx, r.Name, statement, b.Args)
	return err == nil && !found, err
}

// Guards returns the conditions that select values which do not compare exactly.
func Guards(columns []*sqltext.Column) []string {
	var conditions []string
	for _, c := range columns {
		conditions = append(conditions, c.Loose.Guard)
	}
	return conditions
}

// SortGuards returns the conditions that select values which do not sort exactly.
func SortGuards(columns []*sqltext.Column) []string {
	var conditions []string
	for _, c := range columns {
		conditions = append(conditions, c.Loose.Guard, c.Loose.Long)
	}
	return conditions
}
