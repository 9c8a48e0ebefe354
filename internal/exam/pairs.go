package exam

import (
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Connectors are known to make one text of the keys of a group, to tell groups apart by it. It may be the same for
// several groups: ("a", "bc") and ("ab", "c"), one behind the other, are both "abc".

// pairNull is the text of null in a pair of keys, which no value has.
const pairNull = "\x00"

// carelessJoints are what is put between two keys.
var carelessJoints = []string{"", " ", ",", ", ", "-", "_", "|", "/", ":", ";", ".", "#"}

// A carelessPair makes one text of two keys.
type carelessPair struct {
	of func(a, b string) string
	// may reports whether it can be the same for several pairs of the texts of two columns, by a look at each column.
	may func(a, b map[string]bool) bool
}

// carelessPairs have a joint between the keys, have them in any order, have null as an empty text or as its name, and
// have both as a careless key of one column has them.
var carelessPairs = func() (list []carelessPair) {
	for _, joint := range carelessJoints {
		holds := func(texts map[string]bool) bool {
			for text := range texts {
				if strings.Contains(text, joint) {
					return true
				}
			}
			return false
		}
		list = append(list, carelessPair{
			func(a, b string) string { return a + joint + b },
			func(a, b map[string]bool) bool { return holds(a) || holds(b) },
		})
	}
	list = append(list, carelessPair{
		func(a, b string) string { return strconv.Quote(min(a, b)) + max(a, b) },
		func(a, b map[string]bool) bool {
			for text := range a {
				if b[text] {
					return true
				}
			}
			return false
		},
	})
	nullEmpty := func(text string) string { return strings.TrimPrefix(text, pairNull) }
	for _, key := range slices.Concat([]func(string) string{nullEmpty, nullByName}, carelessKeys) {
		merges := func(texts map[string]bool) bool {
			keys := make(map[string]bool, len(texts))
			for text := range texts {
				keys[key(text)] = true
			}
			return len(keys) < len(texts)
		}
		list = append(list, carelessPair{
			func(a, b string) string { return strconv.Quote(key(a)) + key(b) },
			func(a, b map[string]bool) bool { return merges(a) || merges(b) },
		})
	}
	return list
}()

// nullByName returns a text, or null for one that is the name of null in some language.
func nullByName(text string) string {
	switch strings.ToLower(text) {
	case "null", "none", "nil", "<nil>", "nan", "undefined":
		return pairNull
	}
	return text
}

// TellingPairs returns up to n pairs of columns, in the order in which they are to be the keys of a group: the one
// whose values the most careless pairs would merge, and then those that show what the ones before do not. It leaves
// out pairs with as many values as the limit.
func TellingPairs(t *oracle.Table, columns []string, limit, n int) (pairs [][2]string) {
	var all [][2]string
	var shown [][]bool // by the pair: which careless pairs it shows
	for _, a := range columns {
		for _, b := range columns {
			if merged := mergedBy(t, t.Index(a), t.Index(b), limit); a != b && merged != nil {
				all, shown = append(all, [2]string{a, b}), append(shown, merged)
			}
		}
	}
	known := make([]bool, len(carelessPairs))
	for len(pairs) < min(n, len(all)) {
		best, most := 0, 0
		for i, merged := range shown {
			points := 0
			for k := range merged {
				if merged[k] && !known[k] {
					points++
				}
			}
			if points > most {
				best, most = i, points
			}
		}
		if most == 0 && len(pairs) > 0 {
			break
		}
		pairs = append(pairs, all[best])
		for k := range known {
			known[k] = known[k] || shown[best][k]
		}
	}
	return pairs
}

// JoinedAlike returns two columns of which several rows have the same text, one value behind the other, and the values of
// the first in these rows: groups of the rows with these values show who tells groups apart by that text. Pairs of columns
// with fewer groups than the limit are for [TellingPairs], and left out.
func JoinedAlike(t *oracle.Table, columns []string, limit int) (pair [2]string, values []wire.Value) {
	texts := make([]map[string]bool, len(columns)) // of each column
	for n, name := range columns {
		texts[n] = map[string]bool{}
		for _, row := range t.Rows {
			texts[n][row[t.Index(name)].String()] = true
		}
	}
	for n, a := range columns {
		for m, b := range columns {
			if a == b || len(texts[n])*len(texts[m]) < limit {
				continue
			}
			i, j := t.Index(a), t.Index(b)
			groups, of := map[[2]string]bool{}, map[string]wire.Value{}
			var alike []wire.Value
			for _, row := range t.Rows {
				x, y := row[i].String(), row[j].String()
				groups[[2]string{x, y}] = true
				if alike != nil || row[i].IsNull() || row[j].IsNull() {
					continue
				}
				if known, ok := of[x+y]; ok && known.String() != x {
					alike = []wire.Value{known, row[i]}
				}
				of[x+y] = row[i]
			}
			if alike != nil && len(groups) >= limit {
				return [2]string{a, b}, alike
			}
		}
	}
	return pair, nil
}

// mergedBy returns which careless pairs would merge values of two columns, or nil if there are as many as the limit.
func mergedBy(t *oracle.Table, a, b, limit int) []bool {
	text := func(v wire.Value) string {
		if v.IsNull() {
			return pairNull
		}
		return v.String()
	}
	as, bs, distinct := map[string]bool{}, map[string]bool{}, map[[2]string]bool{}
	for _, row := range t.Rows {
		pair := [2]string{text(row[a]), text(row[b])}
		as[pair[0]], bs[pair[1]] = true, true
		if distinct[pair] = true; len(distinct) >= limit {
			return nil
		}
	}
	merges := make([]bool, len(carelessPairs))
	for i, careless := range carelessPairs {
		if !careless.may(as, bs) {
			continue
		}
		merged := make(map[string]bool, len(distinct))
		for pair := range distinct {
			merged[careless.of(pair[0], pair[1])] = true
		}
		merges[i] = len(merged) < len(distinct)
	}
	return merges
}
