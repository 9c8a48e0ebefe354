package sqltext

import (
	"fmt"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
	"github.com/stretchr/testify/assert"
)

var ofSQLite = sqlite.Flavor()

// TestChoose keeps statements within what engines take, and leaves the rest to
// the library.
func TestChoose(t *testing.T) {
	c := &Column{Name: "c", Column: sqlengine.Column{Class: sqlengine.ClassInteger, Raw: "c", Type: wire.TypeNumber}}
	split := func(and []wire.Filter, or ...[]wire.Filter) Pushdown {
		return Choose(&ofSQLite, wire.Where{And: and, Or: or}, func(string) *Column { return c })
	}
	eq := wire.Filter{Field: "c", Op: wire.OpEq, Value: wire.Int(1)}
	var many []wire.Filter
	for range maxFilters + 1 {
		many = append(many, eq)
	}
	p := split(many)
	assert.Len(t, p.Pushed.And, maxFilters)
	assert.False(t, p.All)

	list := wire.Filter{Field: "c", Op: wire.OpIn}
	for i := range maxMembers {
		list.Values = append(list.Values, wire.Int(int64(i)))
	}
	p = split([]wire.Filter{list})
	assert.True(t, p.All)
	p = split([]wire.Filter{list, list, list, list, list, list})
	assert.Len(t, p.Pushed.And, MaxValues/maxMembers)
	list.Values = append(list.Values, wire.Int(-1))
	p = split([]wire.Filter{list, eq})
	assert.Len(t, p.Pushed.And, 1, "a list that is too long is left, the rest is not")

	contains := wire.Filter{Field: "c", Op: wire.OpIncludes, Value: wire.Text("1")}
	p = split([]wire.Filter{eq}, []wire.Filter{eq}, []wire.Filter{contains})
	assert.Len(t, p.Pushed.And, 1)
	assert.Empty(t, p.Pushed.Or, "a part of an or would drop rows")
	assert.False(t, p.All)
}

// TestChooseWithin binds no more values than the engine takes, and pushes what fits
// behind a filter that does not.
func TestChooseWithin(t *testing.T) {
	c := &Column{Name: "c", Column: sqlengine.Column{Class: sqlengine.ClassInteger, Raw: "c", Type: wire.TypeNumber}}
	eq := wire.Filter{Field: "c", Op: wire.OpEq, Value: wire.Int(1)}
	three := wire.Filter{Field: "c", Op: wire.OpIn, Values: []wire.Value{wire.Int(1), wire.Int(2), wire.Int(3)}}
	null := wire.Filter{Field: "c", Op: wire.OpIsNull}
	for bound, want := range map[int]int{1: 2, 2: 3, 3: 2, 4: 3, 5: 4, 0: 4} {
		flavor := ofSQLite
		flavor.MaxValues = bound
		p := Choose(&flavor, wire.Where{And: []wire.Filter{three, eq, eq, null}}, func(string) *Column { return c })
		assert.Len(t, p.Pushed.And, want, "at most %d values", bound)
		assert.Equal(t, want == 4, p.All)
	}
}

// TestUnsearched leaves to the library what the flavor has no function for.
func TestUnsearched(t *testing.T) {
	c := &Column{Name: "c", Column: sqlengine.Column{Class: sqlengine.ClassText, Type: wire.TypeString, Raw: "c", Text: "c"}}
	for _, op := range []wire.Op{wire.OpIncludes, wire.OpStartsWith} {
		pushes := func(flavor sqlengine.Flavor) bool {
			b := &Builder{Flavor: &flavor}
			_, ok := b.Condition(c, wire.Filter{Field: "c", Op: op, Value: wire.Text("x")})
			assert.Equal(t, ok, len(b.Args) == 1, "what is not pushed binds nothing")
			return ok
		}
		assert.True(t, pushes(ofSQLite), op)
		unable := ofSQLite
		unable.Includes, unable.HasPrefix = nil, nil
		assert.False(t, pushes(unable), op)
	}
}

// TestWindowFirst binds the values of a statement in the order of their placeholders,
// wherever the window stands.
func TestWindowFirst(t *testing.T) {
	topFirst := sqlengine.Flavor{WindowFirst: true, Param: func(int) string { return "?" },
		Window: func(limit, offset string, ordered bool) string {
			return fmt.Sprint(" FIRST ", limit, " SKIP ", offset, " ", ordered)
		}}
	offsetFirst := sqlengine.Flavor{OffsetFirst: true, Param: topFirst.Param,
		Window: func(limit, offset string, _ bool) string { return fmt.Sprint(" OFFSET ", offset, " LIMIT ", limit) }}
	for _, c := range []struct {
		b    *Builder
		want string
		args []any
	}{
		{&Builder{Flavor: &topFirst}, "SELECT FIRST ? SKIP ? true a FROM t WHERE b = ?", []any{int64(10), int64(20), "x"}},
		{&Builder{Flavor: &offsetFirst}, "SELECT a FROM t WHERE b = ? OFFSET ? LIMIT ?", []any{"x", int64(20), int64(10)}},
		{&Builder{Flavor: &ofSQLite}, "SELECT a FROM t WHERE b = ?1 LIMIT ?2 OFFSET ?3", []any{"x", int64(10), int64(20)}},
	} {
		got := c.b.Query("a", Window{Offset: 20, Limit: 10, Ordered: true}, func() string { return " FROM t WHERE b = " + c.b.bind("x") })
		assert.Equal(t, c.want, got)
		assert.Equal(t, c.args, c.b.Args)
	}
}
