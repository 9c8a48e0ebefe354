package oracle

import (
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxJSONDepth limits how deep the JSON text of a cell may nest. Deeper text
// does not count as JSON.
const maxJSONDepth = 1024

// node is a JSON value.
type node struct {
	kind  byte   // 0 null, 't' true or false, '1' number, '"' string, '[' array, '{' object
	text  string // of a scalar; a number as it is written
	items []node // of an array, or the values of an object
	names []string
}

// parseJSON parses strict JSON text with only white space around it.
func parseJSON(text string) (node, bool) {
	s := scan.New([]byte(text))
	n := readJSON(s, maxJSONDepth)
	s.End()
	return n, s.Err() == nil && !n.tooDeep()
}

// tooDeepKind marks a value that nests too deep to be read.
const tooDeepKind = 'x'

func (n node) tooDeep() bool {
	return n.kind == tooDeepKind || slices.ContainsFunc(n.items, node.tooDeep)
}

func readJSON(s *scan.Scanner, depth int) node {
	if depth < 0 {
		return node{kind: tooDeepKind}
	}
	switch first := s.Peek(); first {
	case '[':
		n := node{kind: '['}
		for more := s.Expect('[') && !s.Skip(']'); more && s.Err() == nil; more = next(s, ']') {
			n.items = append(n.items, readJSON(s, depth-1))
		}
		return n
	case '{':
		n := node{kind: '{'}
		for more := s.Expect('{') && !s.Skip('}'); more && s.Err() == nil; more = next(s, '}') {
			n.names = append(n.names, s.String())
			s.Expect(':')
			n.items = append(n.items, readJSON(s, depth-1))
		}
		return n
	case '"':
		return node{kind: '"', text: s.String()}
	case 't', 'f':
		return node{kind: 't', text: s.Scalar().String()}
	case 'n':
		s.Scalar()
		return node{}
	default:
		return node{kind: '1', text: s.Number()}
	}
}

// next consumes the comma before another element, or the end.
func next(s *scan.Scanner, end byte) bool {
	return !s.Skip(end) && s.Expect(',')
}

// hasElement reports whether text is the JSON text of an array with an element
// that equals value, compared as undeclared values [rule filter-4]. Null and
// nested elements, and numbers too large for a double, equal nothing.
func hasElement(text string, value wire.Value) bool {
	array, ok := parseJSON(text)
	if !ok || array.kind != '[' {
		return false
	}
	wanted := keyOf(value, asUndeclared)
	for _, e := range array.items {
		var element wire.Value
		switch e.kind {
		case '"':
			element = wire.Text(e.text)
		case 't':
			element = wire.Bool(e.text == "true")
		case '1': // the platform reads JSON numbers as doubles
			f, err := strconv.ParseFloat(e.text, 64)
			if err != nil {
				continue // too large for a double
			}
			element = wire.Float(f)
		default:
			continue
		}
		if order, comparable := compare(keyOf(element, asUndeclared), wanted, asUndeclared); comparable && order == 0 {
			return true
		}
	}
	return false
}

// append appends a JSON value so that equal values have equal texts: without
// white space, members in the order of their names, numbers exact.
func (n node) append(dst []byte) []byte {
	switch n.kind {
	case '"':
		return strconv.AppendQuote(dst, n.text)
	case '1':
		return append(dst, exactNumber(n.text)...)
	case 't':
		return append(dst, n.text...)
	case '[':
		dst = append(dst, '[')
		for _, item := range n.items {
			dst = append(item.append(dst), ',')
		}
		return append(dst, ']')
	case '{':
		members := make([]string, len(n.items))
		for i, item := range n.items {
			members[i] = string(item.append(append(strconv.AppendQuote(nil, n.names[i]), ':')))
		}
		slices.Sort(members)
		return append(append(append(dst, '{'), strings.Join(members, ",")...), '}')
	}
	return append(dst, "null"...)
}

// exactNumber returns a JSON number as its digits without outer zeros and the
// power of ten that multiplies them. It never expands an exponent.
func exactNumber(text string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	n, _ := parseNumber(mantissa)
	if n.whole+n.frac == "" {
		return "0"
	}
	power := int64(0)
	if exponent != "" {
		var err error
		if power, err = strconv.ParseInt(exponent, 10, 62); err != nil {
			return text // an absurd exponent: equal only to its own text
		}
	}
	power -= int64(len(n.frac))
	digits := strings.TrimLeft(n.whole+n.frac, "0")
	short := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(short))
	sign := ""
	if n.negative {
		sign = "-"
	}
	return sign + short + "e" + strconv.FormatInt(power, 10)
}
