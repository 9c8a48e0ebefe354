package platform

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/keyset"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// claims checks rows against what the connector claims of them: filters applied, rows
// sorted, keys unique. It judges by the columns of a declared type, and allocates nothing
// for a row that keeps the claims.
type claims struct {
	columns []wire.Column
	filters *filter.Matcher // nil: none is claimed
	where   wire.Where      // of filters
	doubts  []doubt         // of where; known once a row is doubtful

	again bool // the next row has come before, as the last of a page

	sort []sortClaim
	last []wire.Value // the sort keys of the row before; nil for the first

	key  []int // the columns of the key; empty: none
	text []byte
	keys keySet
}

// sortClaim is one key of a sort that is claimed to be served.
type sortClaim struct {
	at   int
	typ  wire.Type
	desc bool
}

// doubt is one filter of and, or the whole or, in both readings of dates.
type doubt struct {
	at    int // the column; -1: several
	exact *filter.Matcher
	bytes *filter.Matcher
}

// newClaims returns the claims that the rows of an answer can be held against, or nil. The
// table is what discovery says, and may be nil.
func newClaims(req *wire.QueryRequest, columns []wire.Column, served wire.Served, table *wire.Table) *claims {
	c := &claims{columns: columns}
	typed := func(name string) int {
		return slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == name && c.Hop == 0 && c.Type != "" })
	}
	if served.Filters && req.HasFilters() {
		c.where, _ = filter.Split(req.Where, func(f wire.Filter) bool { return typed(f.Field) >= 0 })
		if c.where.HasFilters() {
			// Who asks without Connection may have asked for what no filter is.
			c.filters, _ = filter.Compile(c.where, columns)
		}
	}
	if served.Sort {
		for _, k := range req.Sort {
			at := typed(k.Field)
			if at < 0 {
				break // how the rows stand among their equals is not known
			}
			c.sort = append(c.sort, sortClaim{at, columns[at].Type, k.Dir == wire.Desc})
		}
	}
	if table != nil && len(req.Joins) == 0 {
		key := table.PrimaryKey
		if len(key) == 0 {
			key = keyset.Key(table)
		}
		for _, name := range key {
			c.key = append(c.key, slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == name }))
		}
		if slices.Contains(c.key, -1) {
			c.key = nil
		}
	}
	if c.filters == nil && len(c.sort) == 0 && len(c.key) == 0 {
		return nil
	}
	return c
}

// claimsAfter returns the claims of a page as newClaims does. If the page is cut as it was asked
// for, its rows go on where those of the page before ended; before is nil for the first page.
func claimsAfter(
	before *claims, req *wire.QueryRequest, columns []wire.Column, served wire.Served, table *wire.Table,
) *claims {
	c := newClaims(req, columns, served, table)
	if c != nil && before != nil && served.Window {
		c.last, c.keys, c.again = before.last, before.keys, before.again
	}
	return c
}

// check returns the error of a row that contradicts a claim. The row came in that place of that
// line.
func (c *claims) check(cells []wire.Value, line, row int) error {
	at, problem, rule := c.contradicted(cells)
	if problem == "" {
		return nil
	}
	place := fmt.Sprintf("rows[%d]", row)
	if at >= 0 {
		place += "." + c.columns[at].Name
	}
	return &AnswerError{Path: wire.PathQuery, Place: linePlace(line, place), Rule: rule, Problem: problem}
}

// contradicted returns what in a row contradicts a claim: the column, or -1 for the row as a
// whole, the problem and the rule that it breaks. Without a contradiction the problem is "".
func (c *claims) contradicted(row []wire.Value) (at int, problem, rule string) {
	if c.filters != nil && !passes(c.filters, row) {
		if at, wrong := c.unfiltered(row); wrong {
			return at, "contradicts a filter that is served", "stream-11"
		}
	}
	if c.again { // the reading compares it
		c.again = false
		return -1, "", ""
	}
	if len(c.sort) > 0 {
		if at := c.unsorted(row); at >= 0 {
			return at, "comes too late; the sort is served", "stream-2"
		}
	}
	if len(c.key) > 0 && c.repeated(row) {
		if len(c.key) == 1 {
			at = c.key[0]
		} else {
			at = -1
		}
		return at, "repeats a key of the table", "discovery-10"
	}
	return -1, "", ""
}

// unfiltered reports whether a row contradicts the filters however dates are read, as
// instants or as text, and by which column. That is left open (filter-9).
func (c *claims) unfiltered(row []wire.Value) (at int, wrong bool) {
	if c.doubts == nil {
		asText := slices.Clone(c.columns)
		for i := range asText {
			if t := asText[i].Type; t == wire.TypeDate || t == wire.TypeDatetime {
				asText[i].Type = wire.TypeString
			}
		}
		add := func(at int, where wire.Where) {
			exact, _ := filter.Compile(where, c.columns) // as newClaims has done
			bytes, _ := filter.Compile(where, asText)
			c.doubts = append(c.doubts, doubt{at, exact, bytes})
		}
		for _, f := range c.where.And {
			at := slices.IndexFunc(c.columns, func(c wire.Column) bool { return c.Name == f.Field && c.Hop == 0 })
			add(at, wire.Where{And: []wire.Filter{f}})
		}
		if len(c.where.Or) > 0 {
			add(-1, wire.Where{Or: c.where.Or})
		}
	}
	for _, d := range c.doubts {
		if !passes(d.exact, row) && !passes(d.bytes, row) {
			return d.at, true
		}
	}
	return -1, false
}

// passes reports whether a row that was read passes the filters. Cells that were read
// always have a value, so Match cannot fail; a row that it could not judge would
// contradict nothing.
func passes(filters *filter.Matcher, row []wire.Value) bool {
	ok, err := filters.Match(row)
	return ok || err != nil
}

// unsorted returns the column by which a row belongs before the row before it, or -1.
func (c *claims) unsorted(row []wire.Value) int {
	wrong := -1
	if c.last == nil {
		c.last = make([]wire.Value, len(c.sort))
	} else {
		for i, k := range c.sort {
			if order := k.compare(c.last[i], row[k.at]); order != 0 {
				if order > 0 {
					wrong = k.at
				}
				break
			}
		}
	}
	for i, k := range c.sort {
		c.last[i] = row[k.at]
	}
	return wrong
}

// compare compares two cells that follow each other: above 0 they are in the wrong order,
// below 0 in the right one, also where the rules leave it open.
func (k sortClaim) compare(a, b wire.Value) int {
	if a.IsNull() || b.IsNull() {
		switch {
		case !b.IsNull():
			return 1 // nulls are last
		case !a.IsNull():
			return -1
		}
		return 0
	}
	order, ok := filter.Compare(a, b, k.typ)
	if k.desc {
		order = -order
	}
	if ok && order <= 0 {
		return order
	}
	switch k.typ {
	case wire.TypeDate, wire.TypeDatetime:
		_, isA := filter.Instant(a)
		if _, isB := filter.Instant(b); !isA || !isB {
			return -1
		}
	case wire.TypeNumber, wire.TypeDecimal:
		if !ok {
			return -1
		}
	}
	return order
}

// repeated reports whether a row has the key of another row. A key with a
// null is not compared.
func (c *claims) repeated(row []wire.Value) bool {
	c.text = c.text[:0]
	for _, at := range c.key {
		if row[at].IsNull() {
			return false
		}
		// As text: whether 1 and 1.0 are one key is for the source to say.
		c.text = filter.AppendKey(c.text, row[at], wire.TypeString)
	}
	return c.keys.add(keyHash{maphash.Bytes(keySeeds[0], c.text), maphash.Bytes(keySeeds[1], c.text)})
}

// keyHash is a key as 128 bits. That two keys share them will not be seen.
type keyHash [2]uint64

var keySeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// keySet holds the keys of rows: all of a small table, and of a larger one those that came
// last. Keys are in buckets of eight; it grows to maxKeys, which take a MiB.
type keySet struct {
	slots []keyHash
	added int
}

const (
	bucket  = 8
	maxKeys = 1 << 16
)

// add puts a key into the set and reports whether it was there.
func (s *keySet) add(k keyHash) (again bool) {
	if s.added*4 >= len(s.slots) && len(s.slots) < maxKeys {
		old := s.slots
		s.slots, s.added = make([]keyHash, max(4*len(old), 64)), 0
		for _, k := range old {
			if k != (keyHash{}) {
				s.put(k)
			}
		}
	}
	return s.put(k)
}

func (s *keySet) put(k keyHash) (again bool) {
	from := int(k[0]%uint64(len(s.slots)/bucket)) * bucket
	slots := s.slots[from : from+bucket]
	for i := range slots {
		switch slots[i] {
		case k:
			return true
		case keyHash{}:
			slots[i] = k
			s.added++
			return false
		}
	}
	copy(slots, slots[1:]) // the oldest goes
	slots[bucket-1] = k
	return false
}
