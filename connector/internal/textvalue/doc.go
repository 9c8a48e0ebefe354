// Package textvalue makes cells of text and JSON: it says what a value is as it stands
// ([Raw]), what it could be ([Rules.Classify], [Class.Type]), and converts it to a cell
// of a column's type ([Rules.Value]). Files, REST APIs and documents share it. Where
// they differ on purpose, [Rules] says how.
package textvalue
