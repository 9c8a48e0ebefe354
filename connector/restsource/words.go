package restsource

import (
	"slices"
	"strings"
	"unicode"
)

// word is the kind of a word in a member's name: what it tells about a list.
type word uint8

const (
	wordOther    word = iota
	wordGlue          // nothing, but it stands in such names
	wordNot           // the contrary
	wordRow           // a limit, beside a word of pages
	wordSize          // likewise
	wordPrevious      // the way back, or the list itself
	wordLink          // a place, in a list of places
	wordMore          // and those below tell by themselves
	wordDone
	wordLimit
	wordPage
	wordTotal
	wordOffset
)

// dictionary has the words of the names that tell about lists and pages.
var dictionary = byWord(map[word]string{
	wordMore: "next more cursor cursors token tokens marker markers scroll truncated continuation continue continued " +
		"after remaining left incomplete partial resume bookmark",
	wordDone:     "last done complete completed end ended eof final finished exhausted",
	wordLimit:    "limit limits per max maximum",
	wordSize:     "size",
	wordPage:     "page pages paged pager paging paginate pagination paginated",
	wordTotal:    "total totals count counts counted hits",
	wordOffset:   "offset skip skipped",
	wordPrevious: "prev previous before first back self current this",
	wordLink:     "link links",
	wordNot:      "no not non without",
	wordRow:      "item items record records result results row rows element elements entry entries object objects",
	wordGlue: "has have is are num nr number of in on at to from by the all and sync delta cur start length index " +
		"position data list set key id uri url href ref query search response request odata found available match " +
		"matches matched info api batch chunk window",
})

// byWord returns what each of the words stands for.
func byWord[V comparable](lists map[V]string) map[string]V {
	all := map[string]V{}
	for v, text := range lists {
		for w := range strings.FieldsSeq(text) {
			all[w] = v
		}
	}
	return all
}

// name is the words of a member's name.
type name []word

func (n name) has(w word) bool { return slices.Contains(n, w) }

// ofPages reports whether one of the words tells about pages.
func (n name) ofPages() bool {
	return slices.ContainsFunc(n, func(w word) bool { return w >= wordMore })
}

// only reports whether the words tell of pages and of nothing else, so that the member may come
// and go with them.
func (n name) only() bool {
	return !n.has(wordOther) && slices.ContainsFunc(n, func(w word) bool { return w >= wordPrevious })
}

// wordsOf splits a name at its separators and capitals, and each part into the words of the
// dictionary: nextPageToken, next_page_token and nextpagetoken have the same words. It runs for
// each row with a list, and a regular expression takes nine times as long.
func wordsOf(text string) (found name) {
	runes := []rune(text)
	start := 0
	part := func(end int) {
		if end > start {
			found = append(found, segmented(strings.ToLower(string(runes[start:end])))...)
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			part(i)
			start = i + 1
		case unicode.IsUpper(r) && i > start &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			part(i)
		}
	}
	part(len(runes))
	return found
}

// longestName limits the letters that are looked up as words. The work grows with their square, and an
// answer may have any name.
const longestName = 64

// segmented returns the words that make up a text, or one that the dictionary does not have.
func segmented(text string) name {
	if len(text) > longestName {
		return name{wordOther}
	}
	if w, ok := dictionary[text]; ok {
		return name{w}
	}
	for n := len(text) - 2; n >= 2; n-- {
		if w, ok := dictionary[text[:n]]; ok {
			if rest := segmented(text[n:]); !rest.has(wordOther) {
				return append(name{w}, rest...)
			}
		}
	}
	return name{wordOther}
}
