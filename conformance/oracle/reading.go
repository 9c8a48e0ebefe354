package oracle

import "github.com/connectorsdk/connector-sdk-go/wire"

// Reading is one way to read the protocol where its text allows several and
// the ruling is only a decision. The zero Reading follows the rulings. A judge
// that finds an answer wrong under the rulings and right under another reading
// gives advice; one that is wrong under every reading has failed.
type Reading struct {
	// DatesAsText compares dates and datetimes by their bytes (against A9).
	DatesAsText bool
	// SplitGroups keeps values of different spelling, such as 1.5 and 1.50, in
	// groups of their own (against E2).
	SplitGroups bool
	// SplitDistinct counts them as distinct values (against E2).
	SplitDistinct bool
}

// Readings are all readings, the rulings' first.
func Readings() []Reading {
	var all []Reading
	for i := range 8 {
		all = append(all, Reading{DatesAsText: i&1 != 0, SplitGroups: i&2 != 0, SplitDistinct: i&4 != 0})
	}
	return all
}

// groupRule and distinctRule decide which values are one group, one value.
func (r Reading) groupRule(t wire.Type) rule {
	if r.SplitGroups {
		return asText
	}
	return r.rule(t)
}

func (r Reading) distinctRule(t wire.Type) rule {
	if r.SplitDistinct {
		return asText
	}
	return r.rule(t)
}
