package filter_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestSplit(t *testing.T) {
	yes, no := wire.Filter{Field: "yes", Op: wire.OpEq}, wire.Filter{Field: "no", Op: wire.OpEq}
	also := wire.Filter{Field: "also", Op: wire.OpNotNull}
	can := func(f wire.Filter) bool { return f.Field != "no" }
	type filters = []wire.Filter
	type groups = [][]wire.Filter
	for _, c := range []struct {
		why     string
		and     filters
		or      groups
		pushAnd filters
		pushOr  groups
		all     bool
	}{
		{"nothing asked: everything is pushed", nil, nil, nil, nil, true},
		{"or: [] adds no constraint", nil, groups{}, nil, nil, true},
		{"every filter is pushed", filters{yes, also}, nil, filters{yes, also}, nil, true},
		{"one filter stays", filters{yes, no, also}, nil, filters{yes, also}, nil, false},
		{"all filters stay", filters{no}, nil, nil, nil, false},
		{"or is pushed as a whole", filters{yes}, groups{{yes, also}, {also}}, filters{yes}, groups{{yes, also}, {also}}, true},
		{"or stays as a whole for one filter in it", filters{yes}, groups{{yes}, {also, no}}, filters{yes}, nil, false},
		{"a filter that the source can apply is not pushed out of an or", nil, groups{{yes}, {no}}, nil, nil, false},
		{"or is pushed although a filter of and stays", filters{no}, groups{{yes}}, nil, groups{{yes}}, false},
		{"an empty group makes or true, so nothing of it is pushed", filters{yes}, groups{{also}, {}}, filters{yes}, nil, true},
		{"a filter beside an empty group may name an unknown field, so nothing is claimed",
			filters{yes}, groups{{no}, {}}, filters{yes}, nil, false},
		{"the same, with the empty group first", filters{yes}, groups{{}, {no}}, filters{yes}, nil, false},
		{"an empty group does not push what and keeps", filters{no}, groups{{}}, nil, nil, false},
	} {
		pushed, all := filter.Split(wire.Where{And: c.and, Or: c.or}, can)
		assert.Equal(t, c.pushAnd, pushed.And, c.why)
		assert.Equal(t, c.pushOr, pushed.Or, c.why)
		assert.Equal(t, c.all, all, c.why)
	}
}

// TestSplitAsksForEveryFilter checks that Split asks for the filters of And
// first and for every filter of Or, whatever the answers. A source that counts
// in its callback therefore never sees a filter of Or before one of And.
func TestSplitAsksForEveryFilter(t *testing.T) {
	filters := func(fields string) (out []wire.Filter) {
		for _, field := range strings.Fields(fields) {
			out = append(out, wire.Filter{Field: field, Op: wire.OpIsNull})
		}
		return out
	}
	for _, refused := range []string{"", "a", "c", "d", "f", "a b c d e f"} {
		for _, or := range [][][]wire.Filter{
			{filters("c d"), filters("e f")},
			{{}, filters("c d"), filters("e f")},
			{filters("c d"), {}, filters("e f"), {}},
		} {
			asked := ""
			pushed, all := filter.Split(wire.Where{And: filters("a b"), Or: or}, func(f wire.Filter) bool {
				asked += f.Field
				return !strings.Contains(refused, f.Field)
			})
			assert.Equal(t, "abcdef", asked)
			assert.Equal(t, refused == "", all)
			alone, _ := filter.Split(wire.Where{And: filters("a b")}, func(f wire.Filter) bool {
				return !strings.Contains(refused, f.Field)
			})
			assert.Equal(t, alone.And, pushed.And, "Or does not change what is pushed of And")
		}
	}
}

func TestSplitSharesNothing(t *testing.T) {
	and := []wire.Filter{{Field: "a"}, {Field: "b"}}
	or := [][]wire.Filter{{{Field: "c"}}, {{Field: "d"}}}
	pushed, _ := filter.Split(wire.Where{And: and, Or: or}, func(wire.Filter) bool { return true })
	pushed.And[0].Field, pushed.Or[0] = "x", nil
	_ = append(pushed.And, wire.Filter{Field: "y"})
	assert.Equal(t, "a", and[0].Field, "the request is not changed")
	assert.NotNil(t, or[0], "the request is not changed")
}
