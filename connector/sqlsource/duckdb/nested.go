package duckdb

import (
	"fmt"
	"strconv"
	"strings"
)

// nested is a type as the catalog spells it, such as STRUCT(a INTEGER, b DECIMAL(5,2)[]).
type nested struct {
	text   string
	name   string   // without what stands in parentheses: STRUCT, MAP, DECIMAL; LIST for a list or an array
	fields []string // of a STRUCT, quoted; nil: they have no names, and it is sent as an array
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
			name := splitOutside(part, ' ')[0]
			if rest := part[len(name):]; rest != "" && rest != " WITH TIME ZONE" { // a row(1, 2) has no names
				t.fields, part = append(t.fields, name), rest
			}
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
	case "BIGNUM", "UNION":
		return text(expr)
	case "DATE":
		return t.key(expr)
	case "BLOB":
		return "to_base64(" + expr + ")"
	case "TIMESTAMP WITH TIME ZONE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS":
		return "strftime(" + t.key(expr) + ", '%Y-%m-%dT%H:%M:%S.%fZ')"
	case "TIMESTAMP_NS":
		return "replace(" + text(t.key(expr)) + ", ' ', 'T') || 'Z'"
	}
	if len(t.parts) == 0 || t.plain() && (t.name != "STRUCT" || t.fields != nil) {
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
	fields := make([]string, len(t.parts))
	for i, part := range t.parts {
		if t.fields == nil {
			fields[i] = part.sendable(fmt.Sprintf("(%s)[%d]", expr, i+1), depth)
			continue
		}
		name := t.fields[i]
		fields[i] = name + " := " + part.sendable("("+expr+")."+name, depth)
	}
	pack := "struct_pack("
	if t.fields == nil {
		pack = "json_array("
	}
	return "CASE WHEN " + expr + " IS NOT NULL THEN " + pack + strings.Join(fields, ", ") + ") END"
}

// key returns the expression of a date or a time that is null where its cell would be.
func (t nested) key(expr string) string { return flavor{}.Column(expr, catalogColumn("", t.text)).Key }

// plain reports whether to_json spells all parts of a type as cells are spelled.
func (t nested) plain() bool {
	for _, part := range t.parts {
		if part.sendable("x", 0) != "x" {
			return false
		}
	}
	return true
}
