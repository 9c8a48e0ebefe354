package duckdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// integerDigits are the most digits of the engine's integers.
var integerDigits = map[string]int{
	"TINYINT": 3, "UTINYINT": 3, "SMALLINT": 5, "USMALLINT": 5, "INTEGER": 10, "UINTEGER": 10, "BIGINT": 19, "UBIGINT": 20,
	"HUGEINT": 39, "UHUGEINT": 39, "BIGNUM": bignumDigits,
}

// doubleDigits is how many digits of a decimal, and of an integer, every double keeps.
const doubleDigits = 15

func (t nested) integer() bool { return integerDigits[t.name] > 0 }
func (t nested) float() bool   { return t.name == "FLOAT" || t.name == "DOUBLE" }
func (t nested) moment() bool  { return strings.HasPrefix(t.name, "TIMESTAMP") }

// number reports whether the values are numbers.
func (t nested) number() bool { return t.integer() || t.float() || t.name == "DECIMAL" }

// decimal returns the digits before the dot and behind it of an exact number.
func (t nested) decimal() (whole, scale int) {
	if t.name != "DECIMAL" {
		return integerDigits[t.name], 0
	}
	precision := 0
	_, _ = fmt.Sscanf(t.text, "DECIMAL(%d,%d)", &precision, &scale)
	return precision - scale, scale
}

// simple returns a type without parts.
func simple(name string) nested {
	t := parseType(name)
	t.text = name
	return t
}

// String returns the type as a statement spells it.
func (t nested) String() string {
	switch t.name {
	case "LIST":
		return t.parts[0].String() + "[]"
	case "MAP":
		return "MAP(" + t.parts[0].String() + ", " + t.parts[1].String() + ")"
	case "STRUCT":
		fields := make([]string, len(t.fields))
		for i, name := range t.fields {
			fields[i] = name + " " + t.parts[i].String()
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	}
	return t.text
}

// widest returns the least type that holds all values of both types exactly. Where their
// values decide that, it returns the type for values that are few enough, and doubtful:
// without a look at them the type is a VARCHAR. It reports false if no type does.
func widest(a, b nested) (t nested, doubtful, ok bool) {
	switch {
	case a.String() == b.String():
		return a, false, true
	case a.name == `"NULL"`:
		return b, false, true
	case b.name == `"NULL"`:
		return a, false, true
	case a.name == b.name && len(a.parts) > 0 && len(b.parts) > 0:
		return widestParts(a, b)
	case len(a.parts) > 0 || len(b.parts) > 0 || a.name == "BLOB" || b.name == "BLOB":
		return t, false, false
	case a.number() && b.number():
		return widestNumber(a, b)
	case (a.moment() || a.name == "DATE") && (b.moment() || b.name == "DATE"):
		if nano := simple("TIMESTAMP_NS"); a.name == nano.name || b.name == nano.name {
			return nano, true, true
		}
		return simple("TIMESTAMP"), false, true
	}
	return simple("VARCHAR"), false, true
}

func widestNumber(a, b nested) (t nested, doubtful, ok bool) {
	wholeA, scaleA := a.decimal()
	wholeB, scaleB := b.decimal()
	switch {
	case a.float() && b.float():
		return simple("DOUBLE"), false, true
	case a.float() || b.float():
		digits := wholeA + scaleA + wholeB + scaleB // a float has none
		if digits > doubleDigits && (a.name == "DECIMAL" || b.name == "DECIMAL") {
			return simple("VARCHAR"), false, true
		}
		return simple("DOUBLE"), digits > doubleDigits, true
	case a.integer() && b.integer():
		switch digits := max(wholeA, wholeB); {
		case a.name == "BIGNUM" || b.name == "BIGNUM" || a.name == "UHUGEINT" || b.name == "UHUGEINT":
			return simple("BIGNUM"), false, true
		case digits > integerDigits["BIGINT"]:
			return simple("HUGEINT"), false, true
		}
		return simple("BIGINT"), false, true
	}
	whole, scale := max(wholeA, wholeB), max(scaleA, scaleB)
	if whole+scale > maxDecimal {
		return simple("VARCHAR"), false, true
	}
	return simple(decimalType(whole+scale, scale)), false, true
}

// widestParts returns the widest of two lists, maps or structs, part by part. Nobody
// looks at the values of parts.
func widestParts(a, b nested) (t nested, doubtful, ok bool) {
	t = nested{name: a.name, fields: slices.Clone(a.fields), parts: slices.Clone(a.parts)}
	for i, part := range b.parts {
		at := i
		if a.name == "STRUCT" {
			if at = fieldOf(t, b.fields[i]); at < 0 {
				t.fields, t.parts = append(t.fields, b.fields[i]), append(t.parts, part)
				continue
			}
		}
		both, unsure, ok := widest(t.parts[at], part)
		if !ok || a.name == "MAP" && i == 0 && both.name != t.parts[at].name {
			return t, false, false // keys that would be spelled otherwise
		}
		if unsure {
			both = simple("VARCHAR")
		}
		t.parts[at] = both
	}
	return t, false, true
}

// fieldOf returns the place of a field of a struct, or -1. The engine does not tell
// capital letters from small ones.
func fieldOf(t nested, name string) int {
	return slices.IndexFunc(t.fields, func(have string) bool { return strings.EqualFold(strings.Trim(have, `"`), strings.Trim(name, `"`)) })
}

// as returns an expression of type t as one of a wider type. depth names the variables
// of functions.
func (t nested) as(to nested, expr string, depth int) string {
	if t.String() == to.String() {
		return expr
	}
	variable := "w" + strconv.Itoa(depth)
	switch {
	case t.name == `"NULL"`:
		return "CAST(NULL AS " + to.String() + ")"
	case to.name == "VARCHAR":
		return t.spelled(expr)
	case to.name == "LIST" && t.name == "LIST":
		return "list_transform(" + expr + ", lambda " + variable + ": " + t.parts[0].as(to.parts[0], variable, depth+1) + ")"
	case to.name == "MAP" && t.name == "MAP":
		return "map_from_entries(list_transform(map_entries(" + expr + "), lambda " + variable + ": {'k': " +
			t.parts[0].as(to.parts[0], variable+".key", depth+1) + ", 'v': " +
			t.parts[1].as(to.parts[1], variable+".value", depth+1) + "}))"
	case to.name == "STRUCT" && t.name == "STRUCT":
		fields := make([]string, len(to.fields))
		for i, name := range to.fields {
			value := "CAST(NULL AS " + to.parts[i].String() + ")"
			if at := fieldOf(t, name); at >= 0 {
				value = t.parts[at].as(to.parts[i], "("+expr+")."+t.fields[at], depth)
			}
			fields[i] = name + " := " + value
		}
		return "CASE WHEN " + expr + " IS NOT NULL THEN struct_pack(" + strings.Join(fields, ", ") + ") END"
	case to.moment() && t.name == "TIMESTAMP WITH TIME ZONE":
		return "CAST(timezone('UTC', " + expr + ") AS " + to.String() + ")"
	case to.moment():
		return "TRY_CAST(" + expr + " AS " + to.String() + ")" // what it does not hold cannot be sent
	}
	return "CAST(" + expr + " AS " + to.String() + ")"
}

// spelled returns the text of a value, as a cell of its own type would be spelled.
func (t nested) spelled(expr string) string {
	c := flavor{}.Column(expr, catalogColumn("", t.String()))
	switch {
	case t.float():
		return `regexp_replace(CAST(` + c.Cell + ` AS VARCHAR), '\.0$', '')`
	case t.name == "TIMESTAMP_NS":
		return "replace(CAST(" + c.Cell + " AS VARCHAR), ' ', 'T') || 'Z'"
	}
	return c.Text
}
