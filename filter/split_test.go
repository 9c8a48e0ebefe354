package filter_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestSplit(t *testing.T) {
	filters := func(text string) (list []wire.Filter) {
		for field := range strings.FieldsSeq(strings.TrimPrefix(text, "-")) {
			list = append(list, wire.Filter{Field: field, Op: wire.OpEq})
		}
		return list
	}
	groups := func(text string) (list [][]wire.Filter) {
		if text == "-" {
			return nil
		}
		list = [][]wire.Filter{}
		for _, group := range strings.Split(text, "|")[1:] {
			list = append(list, filters(group))
		}
		return list
	}
	for _, c := range testkit.Table(t, "testdata/split.tsv", 6) {
		where := wire.Where{And: filters(c[0]), Or: groups(c[1])}
		var asked []wire.Filter
		pushed, all := filter.Split(where, func(f wire.Filter) bool {
			asked = append(asked, f)
			return f.Field != "no"
		})
		assert.Equal(t, slices.Concat(where.And, slices.Concat(where.Or...)), asked, "%s: every filter is asked for, those of And first", c[5])
		assert.Equal(t, wire.Where{And: filters(c[2]), Or: groups(c[3])}, pushed, c[5])
		assert.Equal(t, c[4], fmt.Sprint(all), c[5])
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
