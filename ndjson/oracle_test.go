package ndjson_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// oracle is a second, deliberately simple reader of streams, which shares no
// code with the first: encoding/json does the syntax, and everything that
// encoding/json lets pass is checked here. It answers what transcript would,
// and whether the stream is complete.
func oracle(stream string) (said []string, complete bool) {
	body := stream
	for _, blank := range []string{"\r\n", "\n", "\r"} { // one blank line, whole or not, may follow
		if strings.HasSuffix(stream, "\n"+blank) {
			body = strings.TrimSuffix(stream, blank)
			break
		}
	}
	texts := strings.Split(body, "\n")
	if texts[len(texts)-1] == "" {
		texts = texts[:len(texts)-1]
	}
	served, rows := false, false
	for i, text := range texts {
		kind, more, ok := oracleLine(text)
		last := i == len(texts)-1
		switch {
		case !ok,
			kind == "served" && (served || rows),
			(kind == "end" || kind == "error") != last:
			return nil, false
		}
		served = served || kind == "served"
		rows = rows || kind == "rows"
		said = append(said, more...)
	}
	return said, len(texts) > 0
}

type member struct {
	name  string
	value any // nil, bool, string, json.Number, []member or []any
}

func oracleLine(text string) (kind string, said []string, ok bool) {
	if !utf8.ValidString(text) || halfPair(text) {
		return "", nil, false
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	value, err := oracleValue(dec)
	if err != nil {
		return "", nil, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return "", nil, false
	}
	line, ok := value.([]member)
	if !ok || len(line) != 1 {
		return "", nil, false
	}
	kind, value = line[0].name, line[0].value
	switch kind {
	case "ping", "end":
		number, ok := value.(json.Number)
		if !ok {
			return "", nil, false
		}
		f, err := number.Float64()
		return kind, nil, err == nil && f == 1
	case "served":
		flags, ok := membersOf[bool](value, "filters", "sort", "window")
		return kind, []string{"served " + strings.Trim(fmt.Sprint(flags), "[]")}, ok
	case "error":
		texts, ok := membersOf[string](value, "code", "message")
		return kind, []string{"error " + strings.Join(texts, ": ")}, ok
	case "rows":
		array, ok := value.([]any)
		if !ok || len(array) < 1 || len(array) > 5000 {
			return "", nil, false
		}
		for _, element := range array {
			row, ok := element.([]member)
			if !ok {
				return "", nil, false
			}
			seen := map[string]bool{}
			var cells []string
			for _, m := range row {
				cell, ok := oracleCell(m.value)
				if !ok || seen[m.name] {
					return "", nil, false
				}
				seen[m.name] = true
				cells = append(cells, m.name+"="+cell)
			}
			said = append(said, "{"+strings.Join(cells, " ")+"}")
		}
		return kind, said, true
	}
	return "", nil, false
}

// membersOf returns the values of an object that has these members, each of one type, and no others.
func membersOf[T any](value any, names ...string) ([]T, bool) {
	object, ok := value.([]member)
	values, seen := make([]T, len(names)), map[string]bool{}
	for _, m := range object {
		v, typed := m.value.(T)
		i := slices.Index(names, m.name)
		if !typed || i < 0 || seen[m.name] {
			return values, false
		}
		values[i], seen[m.name] = v, true
	}
	return values, ok && len(object) == len(names)
}

func oracleCell(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "null", true
	case bool:
		return fmt.Sprintf("bool:%v", v), true
	case string:
		return "text:" + v, true
	case json.Number:
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return "", false
		}
		if f == math.Trunc(f) && math.Abs(f) <= 1<<53-1 {
			return fmt.Sprintf("int:%d", int64(f)), true
		}
		return "float:" + strconv.FormatFloat(f, 'f', -1, 64), true
	}
	return "", false
}

// oracleValue reads one value. The members of an object keep their order, and
// duplicates.
func oracleValue(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		object := []member{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			value, err := oracleValue(dec)
			if err != nil {
				return nil, err
			}
			object = append(object, member{name.(string), value})
		}
		_, err := dec.Token()
		return object, err
	case json.Delim('['):
		array := []any{}
		for dec.More() {
			value, err := oracleValue(dec)
			if err != nil {
				return nil, err
			}
			array = append(array, value)
		}
		_, err := dec.Token()
		return array, err
	}
	return token, nil
}

var unicodeEscapes = regexp.MustCompile(`(?:\\u[0-9a-fA-F]{4})+|\\.`)

// halfPair reports whether text escapes half of a surrogate pair, which
// encoding/json replaces in silence.
func halfPair(text string) bool {
	for _, run := range unicodeEscapes.FindAllString(text, -1) {
		high := false
		for ; len(run) >= 6; run = run[6:] {
			unit, _ := strconv.ParseUint(run[2:6], 16, 16)
			low := unit >= 0xDC00 && unit < 0xE000
			if high != low {
				return true
			}
			high = unit >= 0xD800 && unit < 0xDC00
		}
		if high {
			return true
		}
	}
	return false
}
