package filter_test

import (
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
		var want, asked []wire.Filter
		for _, group := range append(groups{c.and}, c.or...) {
			want = append(want, group...)
		}
		pushed, all := filter.Split(wire.Where{And: c.and, Or: c.or}, func(f wire.Filter) bool {
			asked = append(asked, f)
			return can(f)
		})
		assert.Equal(t, want, asked, "%s: every filter is asked for, those of And first", c.why)
		assert.Equal(t, c.pushAnd, pushed.And, c.why)
		assert.Equal(t, c.pushOr, pushed.Or, c.why)
		assert.Equal(t, c.all, all, c.why)
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
