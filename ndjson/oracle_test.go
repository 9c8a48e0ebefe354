package ndjson_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The grammar of a line, which is regular because cells are scalars.
const (
	blanks = `[ \t\r]*`
	quoted = `"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"`
	scalar = `(?:` + quoted + `|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)`
	pair   = quoted + blanks + `:` + blanks + scalar + blanks
	object = `\{` + blanks + `(?:` + pair + `(?:,` + blanks + pair + `)*)?\}`
	array  = `\[` + blanks + object + blanks + `(?:,` + blanks + object + blanks + `)*\]`
	value  = `(` + scalar + `|` + object + `|` + array + `)`
)

var (
	aLine   = regexp.MustCompile(`^` + blanks + `\{` + blanks + `(` + quoted + `)` + blanks + `:` + blanks + value + blanks + `\}` + blanks + `$`)
	aMember = regexp.MustCompile(`(` + quoted + `)` + blanks + `:` + blanks + `(` + scalar + `)`)
	aRow    = regexp.MustCompile(object)
	// aStream has the initials of its lines: pings anywhere, served before the rows, and an end or an error.
	aStream = regexp.MustCompile(`^p*s?[pr]*e$`)
)

// oracle is a second, deliberately simple reader of streams, which shares no
// code with the first. It answers what transcript would, and whether the stream
// is complete.
func oracle(stream string) (said []string, complete bool) {
	for _, ending := range []string{"\n\r\n", "\n\n", "\n\r", "\n"} { // one blank line, whole or not, may follow
		if body, found := strings.CutSuffix(stream, ending); found {
			stream = body
			break
		}
	}
	initials := ""
	for line := range strings.SplitSeq(stream, "\n") {
		parts := aLine.FindStringSubmatch(line)
		if parts == nil || !utf8.ValidString(line) {
			return nil, false
		}
		kind, _ := oracleCell(parts[1])
		more, ok := oracleLine(strings.TrimPrefix(kind, "text:"), parts[2])
		if !ok {
			return nil, false
		}
		initials, said = initials+kind[5:6], append(said, more...)
	}
	return said, aStream.MatchString(initials)
}

// oracleLine returns what a line of a kind says.
func oracleLine(kind, value string) (said []string, ok bool) {
	switch kind {
	case "ping", "end":
		n, err := strconv.ParseFloat(value, 64)
		return nil, err == nil && n == 1
	case "served":
		said, ok = oracleRow(value, "filters=bool:", "sort=bool:", "window=bool:")
		return []string{"served " + strings.Join(said, " ")}, ok && value[0] == '{'
	case "error":
		said, ok = oracleRow(value, "code=text:", "message=text:")
		return []string{"error " + strings.Join(said, ": ")}, ok && value[0] == '{'
	case "rows":
		rows := aRow.FindAllString(value, -1)
		for _, row := range rows {
			cells, ok := oracleRow(row)
			if !ok {
				return nil, false
			}
			said = append(said, "{"+strings.Join(cells, " ")+"}")
		}
		return said, value[0] == '[' && len(rows) <= 5000
	}
	return nil, false
}

// oracleRow returns the members of an object, each as name=kind:value. If some are wanted, there have to be these and
// no others, and it returns their values.
func oracleRow(object string, want ...string) (members []string, ok bool) {
	seen := map[string]string{}
	for _, m := range aMember.FindAllStringSubmatch(object, -1) {
		name, sound := oracleCell(m[1])
		cell, ok := oracleCell(m[2])
		name = strings.TrimPrefix(name, "text:")
		if seen[name] != "" || !sound || !ok {
			return nil, false
		}
		seen[name] = cell
		members = append(members, name+"="+cell)
	}
	if len(want) == 0 {
		return members, true
	}
	values := make([]string, len(want))
	for i, w := range want {
		name, kind, _ := strings.Cut(w, "=")
		if values[i], ok = strings.CutPrefix(seen[name], kind); !ok {
			return nil, false
		}
	}
	return values, len(seen) == len(want)
}

// oracleCell spells a scalar. It refuses half of a surrogate pair, which encoding/json replaces in silence,
// and a number beyond the doubles.
func oracleCell(scalar string) (spelled string, ok bool) {
	switch scalar[0] {
	case '"':
		var text string
		err := json.Unmarshal([]byte(scalar), &text)
		marks := strings.Count(strings.ToLower(strings.ReplaceAll(scalar, `\\`, "")), `\ufffd`) + strings.Count(scalar, "\uFFFD")
		return "text:" + text, err == nil && strings.Count(text, "\uFFFD") == marks
	case 't', 'f':
		return "bool:" + scalar, true
	case 'n':
		return "null", true
	}
	f, err := strconv.ParseFloat(scalar, 64)
	if f == math.Trunc(f) && math.Abs(f) <= 1<<53-1 {
		return fmt.Sprintf("int:%d", int64(f)), err == nil
	}
	return "float:" + strconv.FormatFloat(f, 'f', -1, 64), err == nil
}
