package duckdb

import (
	"strconv"
	"strings"
)

// nested is a type as the catalog spells it, such as STRUCT(a INTEGER, b DECIMAL(5,2)[]).
type nested struct {
	text   string
	name   string   // without what stands in parentheses: STRUCT, MAP, DECIMAL; LIST for a list or an array
	fields []string // of a STRUCT, quoted
	parts  []nested // the types of the fields, of the key and the value, or of the elements
}

// parseType reads a type.
func parseType(text string) nested {
	text = strings.TrimSpace(text)
	if strings.HasSuffix(text, "]") {
		return nested{name: "LIST", parts: []nested{parseType(text[:strings.LastIndexByte(text, '[')])}}
	}
	name, inner, ok := strings.Cut(text, "(")
	t := nested{text: text, name: name}
	if !ok || name != "STRUCT" && name != "MAP" {
		return t
	}
	for _, part := range splitOutside(strings.TrimSuffix(inner, ")"), ',') {
		part = strings.TrimSpace(part)
		if name == "STRUCT" {
			words := splitOutside(part, ' ')
			t.fields = append(t.fields, words[0])
			part = strings.TrimPrefix(part, words[0])
		}
		t.parts = append(t.parts, parseType(part))
	}
	return t
}

// splitOutside splits a text at a byte that stands in no quotes and no parentheses.
func splitOutside(text string, at byte) []string {
	var parts []string
	depth, begin := 0, 0
	var quoted byte
	for i := range len(text) {
		switch c := text[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'':
			quoted = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == at && depth == 0:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:])
}

// sendable returns an expression of a value that to_json spells as a cell is spelled:
// decimals keep their scale, and what JSON does not have is null. Where to_json does so
// by itself, it is the value's own expression. depth names the variables of functions.
func (t nested) sendable(expr string, depth int) string {
	switch t.name {
	case "FLOAT": // to_json spells it as the DOUBLE that it is exactly
		return "CASE WHEN isfinite(" + expr + ") THEN CAST(" + text(expr) + " AS DOUBLE) END"
	case "DOUBLE":
		return "CASE WHEN isfinite(" + expr + ") THEN " + expr + " END"
	case "DECIMAL":
		return decimalText(expr, t.text)
	case "BIGNUM":
		return text(expr)
	case "BLOB":
		return "to_base64(" + expr + ")"
	case "TIMESTAMP WITH TIME ZONE":
		return "strftime(timezone('UTC', " + expr + "), '%Y-%m-%dT%H:%M:%S.%fZ')"
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS":
		return "strftime(TRY_CAST(" + expr + " AS TIMESTAMP), '%Y-%m-%dT%H:%M:%S.%fZ')"
	case "TIMESTAMP_NS":
		return "replace(" + text(expr) + ", ' ', 'T') || 'Z'"
	}
	if len(t.parts) == 0 || t.plain() {
		return expr
	}
	variable := "x" + strconv.Itoa(depth)
	switch t.name {
	case "LIST":
		return "list_transform(" + expr + ", lambda " + variable + ": " + t.parts[0].sendable(variable, depth+1) + ")"
	case "MAP":
		return "map_from_entries(list_transform(map_entries(" + expr + "), lambda " + variable + ": {'k': " +
			text(variable+".key") + ", 'v': " + t.parts[1].sendable(variable+".value", depth+1) + "}))"
	}
	fields := make([]string, len(t.fields))
	for i, name := range t.fields {
		fields[i] = name + " := " + t.parts[i].sendable("("+expr+")."+name, depth)
	}
	return "CASE WHEN " + expr + " IS NOT NULL THEN struct_pack(" + strings.Join(fields, ", ") + ") END"
}

// plain reports whether to_json spells all parts of a type as cells are spelled.
func (t nested) plain() bool {
	for _, part := range t.parts {
		if part.sendable("x", 0) != "x" {
			return false
		}
	}
	return true
}
