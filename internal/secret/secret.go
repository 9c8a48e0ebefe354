// Package secret finds secrets in texts, whichever way they are spelled there.
//
// It decodes the text and not the secrets: from each place of the text it follows the secrets
// that begin with what stands there, and takes every character in any of its spellings. So
// spellings may be mixed, and no copy of a secret is made for each of them.
package secret

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// Redacted is what stands in the place of a secret.
const Redacted = "[redacted]"

// Needle is a text to find, and the mark that [Finder.Replace] puts in its place.
type Needle struct{ Text, Mark string }

// Finder finds needles in texts. Several goroutines may use it at once.
type Finder struct {
	needles []Needle // sorted by text, each text once
	first   [257]int // first[c] is the index of the first needle that begins with c or a greater byte
	begins  [256]bool
	second  [256]bool // bytes that stand second in a needle; all, if one has no second byte
	fold    func(byte) byte
}

// New returns a Finder of the needles; empty ones are left out. Of several needles with one
// text, the first counts. Bytes are equal if fold returns the same for both; nil compares the
// bytes themselves.
func New(needles []Needle, fold func(byte) byte) *Finder {
	f := &Finder{fold: fold}
	for _, n := range needles {
		if n.Text == "" {
			continue
		}
		if fold != nil {
			text := []byte(n.Text)
			for i, c := range text {
				text[i] = fold(c)
			}
			n.Text = string(text)
		}
		f.needles = append(f.needles, n)
	}
	slices.SortStableFunc(f.needles, func(a, b Needle) int { return cmp.Compare(a.Text, b.Text) })
	f.needles = slices.CompactFunc(f.needles, func(a, b Needle) bool { return a.Text == b.Text })
	for c := range f.first {
		f.first[c] = sort.Search(len(f.needles), func(i int) bool { return int(f.needles[i].Text[0]) >= c })
	}
	var second [256]bool
	short := false
	for _, n := range f.needles {
		if short = short || len(n.Text) == 1; !short {
			second[n.Text[1]] = true
		}
	}
	for c := range f.begins {
		own := f.folded(byte(c))
		f.begins[c] = f.first[own] < f.first[int(own)+1]
		f.second[c] = short || second[own]
	}
	return f
}

func (f *Finder) folded(c byte) byte {
	if f.fold == nil {
		return c
	}
	return f.fold(c)
}

// Replace returns text with its mark in the place of each needle. Needles that overlap are
// replaced together, so that no rest of one remains.
//
// Its work is bounded by the length of the text. If that does not suffice, because needles and
// text repeat themselves, the rest of the text is not shown: [Redacted] stands for it.
func (f *Finder) Replace(text string) string {
	var b strings.Builder
	s, done := f.search(text), 0
	for found, ok := s.next(0); ok; {
		b.WriteString(text[done:found.start])
		b.WriteString(found.mark)
		done = found.end
		for found, ok = s.next(found.start + 1); ok && found.start < done; found, ok = s.next(found.start + 1) {
			done = max(done, found.end)
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// Find returns the mark of the first needle in text, and whether there is one. It reports
// false if the bounded work of [Finder.Replace] does not suffice to tell.
func (f *Finder) Find(text string) (mark string, ok bool) {
	s := f.search(text)
	found, ok := s.next(0)
	return found.mark, ok && s.fuel >= 0
}

// search is the search of one text.
type search struct {
	*Finder
	text  string
	fuel  int // steps that are left; below 0, the search has ended early
	found span
	open  []state
}

// span is a needle in a text.
type span struct {
	start, end int
	mark       string
}

// state is a place that a reading of the text has come to.
type state struct {
	at int
	group
}

// group is the needles that a reading may still become: those from index lo to hi, whose first
// bytes, as many as depth, were read.
type group struct{ lo, hi, depth int }

// Fuel of a search: what any text gets, what is added for each byte of it, and what is used up
// by following a needle. To look for one takes none: it costs about the same at every place.
const (
	leastFuel   = 64 << 10
	fuelPerByte = 32
	freeReads   = 4  // so many bytes of a needle occur by chance
	readFuel    = 4  // for each byte after those
	escapeFuel  = 32 // for each escape after the first byte
)

func (f *Finder) search(text string) *search {
	return &search{Finder: f, text: text, fuel: leastFuel + fuelPerByte*len(text)}
}

// next returns the longest needle at the first place from which one begins, or what is left of
// the text if there is no more fuel.
func (s *search) next(from int) (span, bool) {
	if len(s.needles) == 0 {
		return span{}, false
	}
	for at := from; at < len(s.text); at++ {
		s.found = span{start: at, end: at}
		s.letters(at)
		s.numbers(at)
		s.base64(at)
		if s.fuel < 0 {
			return span{at, len(s.text), Redacted}, true
		}
		if s.found.end > at {
			return s.found, true
		}
	}
	return span{}, false
}

// read narrows the group to the needles that go on with c, the spelling of which ends at end.
// It notes a needle that is complete, and reports whether any are left.
func (s *search) read(g *group, c byte, end int) bool {
	if g.depth >= freeReads {
		s.fuel -= readFuel
	}
	c = s.folded(c)
	switch depth := g.depth; {
	case depth == 0:
		g.lo, g.hi = s.first[c], s.first[int(c)+1]
	case g.hi-g.lo == 1:
		if text := s.needles[g.lo].Text; len(text) <= depth || text[depth] != c {
			return false
		}
	default:
		list := s.needles[g.lo:g.hi]
		from := sort.Search(len(list), func(i int) bool { return len(list[i].Text) > depth && list[i].Text[depth] >= c })
		list = list[from:]
		g.lo += from
		g.hi = g.lo + sort.Search(len(list), func(i int) bool { return list[i].Text[depth] > c })
	}
	g.depth++
	if g.lo == g.hi {
		return false
	}
	if n := &s.needles[g.lo]; len(n.Text) == g.depth && end > s.found.end {
		s.found.end, s.found.mark = end, n.Mark
	}
	return true
}

// letters looks for needles from a place, whose letters may be escaped each in its own way.
func (s *search) letters(at int) {
	if !s.begins[s.text[at]] && plain(s.text[at:]) {
		return
	}
	s.open = append(s.open[:0], state{at: at})
	for len(s.open) > 0 && s.fuel >= 0 {
		now := s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		more := now.at < len(s.text)
		for more && plain(s.text[now.at:]) {
			now.at++
			more = s.read(&now.group, s.text[now.at-1], now.at) && now.at < len(s.text)
		}
		if more {
			s.escaped(now)
		}
	}
}

// escaped goes on with every reading of what stands at a place and may be an escape.
func (s *search) escaped(now state) {
	if now.depth > 0 {
		s.fuel -= escapeFuel
	}
	var last letter
	for level := range levels + 1 {
		l := readLetter(s.text[now.at:], level)
		if l == last {
			continue
		}
		last = l
		s.follow(now, l)
		if l.n == 1 && l.b[0] == '+' { // a blank, in a query
			s.follow(now, newByte(' ', l.size))
		}
	}
}

// follow goes on with one reading of what stands at a place.
func (s *search) follow(now state, l letter) {
	next := state{now.at + l.size, now.group}
	n := 0
	for n < l.n && s.read(&next.group, l.b[n], next.at) {
		n++
	}
	if n == l.n {
		s.open = append(s.open, next)
	}
}

// numbers looks for needles from a place, whose bytes are written as numbers.
func (s *search) numbers(at int) {
	first, next := digits[s.text[at]], byte(16)
	if at+1 < len(s.text) {
		next = digits[s.text[at+1]]
	}
	if first < 16 && (next == 16 && s.text[at] == '0' || next < 16 && s.begins[first<<4|next]) {
		s.bytes(at, readHex) // 0x has a second character that is no digit
	}
	if first < 10 {
		s.bytes(at, readDecimal)
	}
}

// base64 looks for needles from a place, which may be in the middle of what is encoded.
func (s *search) base64(at int) {
	v, w := sextets[s.text[at]], byte(noSextet)
	if at+1 < len(s.text) {
		w = sextets[s.text[at+1]]
	}
	if v == noSextet || w == noSextet {
		return
	}
	if v == 64 {
		if _, end := readSextet(s.text, at, false); end == 0 {
			return
		}
	}
	if w == 64 {
		if _, end := readSextet(s.text, at+1, true); end == 0 {
			return
		}
	}
	if v == 64 || w == 64 {
		for _, read := range base64Readers {
			s.bytes(at, read)
		}
		return
	}
	// Where the four digits are as they are, two bytes tell nearly all places at which no needle begins.
	x, y := byte(64), byte(64)
	if at+3 < len(s.text) {
		x, y = sextets[s.text[at+2]], sextets[s.text[at+3]]
	}
	if s.begins[v<<2|w>>4] && (x >= 64 || s.second[w<<4|x>>2]) {
		s.bytes(at, base64Readers[0])
	}
	if s.begins[v<<4|w>>2] && (x >= 64 || s.second[w<<6|x]) {
		s.bytes(at, base64Readers[1])
	}
	if s.begins[v<<6|w] && (x >= 64 || y >= 64 || s.second[x<<2|y>>4]) {
		s.bytes(at, base64Readers[2])
	}
}

// bytes looks for needles from a place, whose bytes the reader reads.
func (s *search) bytes(at int, read reader) {
	c, next, end := read(s.text, at, 0)
	if end == 0 || !s.begins[c] {
		return
	}
	var g group
	for n := 1; end > 0 && s.read(&g, c, end) && s.fuel >= 0; n++ {
		c, next, end = read(s.text, next, n)
	}
}
