package oracle

import "github.com/connectorsdk/connector-sdk-go/wire"

// A Reading is one way to read the protocol where its text allows several. The
// zero Reading follows the rules of docs/protocol.md. If an answer is wrong
// under the rules and right under another reading, a judge gives advice; an
// answer that is wrong under every reading has failed.
type Reading struct {
	// DatesAsText compares dates and datetimes by their bytes, against
	// [rule filter-9].
	DatesAsText bool
	// SplitGroups puts values of different spelling, such as 1.5 and 1.50, into
	// different groups, against [rule aggregate-2].
	SplitGroups bool
	// SplitDistinct counts such values as distinct, against [rule aggregate-2].
	SplitDistinct bool
}

// Readings returns all readings, the zero Reading first.
func Readings() []Reading {
	var all []Reading
	for i := range 8 {
		all = append(all, Reading{DatesAsText: i&1 != 0, SplitGroups: i&2 != 0, SplitDistinct: i&4 != 0})
	}
	return all
}

// groupRule returns the rule that decides which values are one group.
func (r Reading) groupRule(t wire.Type) rule {
	if r.SplitGroups {
		return asText
	}
	return r.rule(t)
}

// distinctRule returns the rule that decides which values count as one.
func (r Reading) distinctRule(t wire.Type) rule {
	if r.SplitDistinct {
		return asText
	}
	return r.rule(t)
}
