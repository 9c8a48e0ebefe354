package sqlsource

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The words of a catalog column's Note.
const (
	noteStrict = "strict" // the table is STRICT: values have the declared type
	noteRowID  = "rowid"  // the column is the row's number: integers only
	noteUTF16  = "utf16"  // the database's encoding
)

// sqliteType returns the type that a declared type is read as.
func sqliteType(declared string) wire.Type {
	d := strings.ToUpper(declared)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(d, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("BOOL"):
		return wire.TypeBoolean
	case has("JSON"):
		return wire.TypeJSON
	case has("ARRAY"):
		return wire.TypeArray
	case has("DATETIME", "TIMESTAMP"):
		return wire.TypeDatetime
	case has("DATE"):
		return wire.TypeDate
	case has("DEC", "NUMERIC", "MONEY"):
		return wire.TypeDecimal
	case has("INT"):
		return wire.TypeNumber
	case has("CHAR", "CLOB", "TEXT", "UUID", "BLOB"), d == "":
		return wire.TypeString
	case has("REAL", "FLOA", "DOUB"):
		return wire.TypeNumber
	}
	return wire.TypeString
}

// affinity returns the affinity of a declared type, by SQLite's own rule
// (Datatypes In SQLite, 3.1).
func affinity(declared string) string {
	d := strings.ToUpper(declared)
	switch {
	case strings.Contains(d, "INT"):
		return "INTEGER"
	case strings.Contains(d, "CHAR"), strings.Contains(d, "CLOB"), strings.Contains(d, "TEXT"):
		return "TEXT"
	case strings.Contains(d, "BLOB"), d == "":
		return "BLOB"
	case strings.Contains(d, "REAL"), strings.Contains(d, "FLOA"), strings.Contains(d, "DOUB"):
		return "REAL"
	}
	return "NUMERIC"
}

// Column reads every cell through an expression, because drivers convert values
// of bare columns by their declared types, each in its own way.
func (f sqlite) Column(ref string, c CatalogColumn) Column {
	t := wire.Type(or(string(c.Want), string(sqliteType(c.DataType))))
	strict := strings.Contains(c.Note, noteStrict)
	column := Column{
		Type: t, Class: ClassOpaque, Cell: "+" + ref, Raw: ref, Decode: sqliteDecode(t),
		Tie: "+" + ref + " COLLATE BINARY", Stored: ref + " COLLATE BINARY",
	}
	if strings.Contains(c.Note, noteUTF16) && t != wire.TypeNumber && t != wire.TypeBoolean {
		return column
	}
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		sqliteNumber(&column, ref, c, strict)
	case wire.TypeBoolean:
		column.Class = ClassBoolean
		column.Raw = "(" + ref + " <> 0)"
		column.Key = column.Raw
		column.Text = "CASE WHEN " + ref + " <> 0 THEN 'true' WHEN " + ref + " = 0 THEN 'false' END"
		column.Guard = "typeof(" + ref + ") NOT IN ('integer', 'null')"
	case wire.TypeDate:
		column.Class = ClassDate
		column.Key = ref + " COLLATE BINARY"
		column.Text = "CAST(" + ref + " AS TEXT) COLLATE BINARY"
		column.Guard = "NOT ifnull(" + ref + " IS NULL OR " + sqliteDay(ref) + ", 0)"
	case wire.TypeDatetime:
		sqliteDatetime(&column, ref)
	case wire.TypeString, wire.TypeReference:
		sqliteText(&column, ref, c, strict)
	}
	return column
}

// sqliteNumber completes a column of integers and reals.
func sqliteNumber(column *Column, ref string, c CatalogColumn, strict bool) {
	a := affinity(c.DataType)
	column.Key = ref
	const largest = "1.7976931348623157e308"
	finite := ref + " BETWEEN -" + largest + " AND " + largest
	switch {
	case strings.Contains(c.Note, noteRowID), strict && a == "INTEGER":
		column.Class = ClassInteger
		column.Text = "CAST(" + ref + " AS TEXT)"
		column.Tie, column.Stored = "", ref
		return
	case strict && a == "REAL":
		column.Class = ClassFloat
		column.Valid = finite
		column.Key = "CASE WHEN " + finite + " THEN " + ref + " END"
		return
	case a == "TEXT":
		sqliteDigits(column, ref)
		return
	case a == "REAL":
		column.Class = ClassFloat
	default:
		column.Class = ClassMixed
		// A whole real is an integer as long as it can be one: beyond 2^53 the
		// shortest digits of a real would not be the value that SQLite compares.
		whole := "typeof(" + ref + ") = 'real' AND (" + ref + " BETWEEN 9007199254740992.0 AND 9223372036854774784.0" +
			" OR " + ref + " BETWEEN -9223372036854774784.0 AND -9007199254740992.0)"
		column.Exact = "CASE WHEN " + whole + " THEN CAST(" + ref + " AS INTEGER) ELSE " + ref + " END"
		column.Integer = "typeof(" + column.Exact + ") = 'integer'"
		column.Real = "(typeof(" + column.Exact + ") = 'real' AND " + finite + ")"
		column.Decode = sqliteMixedDecode(column.Type)
	}
	column.Valid = "(typeof(" + ref + ") <> 'real' OR " + finite + ")"
	column.Key = "CASE WHEN typeof(" + ref + ") IN ('integer', 'real') AND " + finite + " THEN " + ref + " END"
	odd := "typeof(" + ref + ") NOT IN ('integer', 'real', 'null')"
	if a == "BLOB" {
		// Nothing made numbers of the texts here, so they may be numbers.
		column.Guard = odd
		return
	}
	column.Odd = odd
	column.OddText = "CASE WHEN " + odd + " THEN CAST(" + ref + " AS TEXT) END COLLATE BINARY"
	column.Group = "CASE WHEN " + column.Valid + " THEN " + ref + " END COLLATE BINARY"
}

// sqliteDigits completes a column of digits as text. The nearest reals tell
// numbers of at most 15 digits apart, and order them.
func sqliteDigits(column *Column, ref string) {
	column.Class = ClassFloat
	body := "ltrim(" + ref + ", '+-')"
	column.Guard = "NOT ifnull(" + ref + " IS NULL OR typeof(" + ref + ") = 'text' AND length(" + ref + ") - length(" + body + ") < 2" +
		" AND " + body + " NOT GLOB '*[^0-9.]*' AND " + body + " GLOB '[0-9]*' AND " + body + " GLOB '*[0-9]'" +
		" AND length(" + body + ") - length(replace(" + body + ", '.', '')) < 2" +
		" AND length(replace(" + body + ", '.', '')) <= 15, 0)"
	column.Raw = "CAST(" + ref + " AS REAL)"
	column.Key = column.Raw
	column.Spelling = ref + " COLLATE BINARY"
	column.Text = ref + " COLLATE BINARY"
	column.Lossy = true
}

// sqliteText completes a column of text. Blobs in it are text too.
func sqliteText(column *Column, ref string, c CatalogColumn, strict bool) {
	switch a := affinity(c.DataType); {
	case a == "TEXT" && strict:
		column.Raw = ref + " COLLATE BINARY"
		column.Tie = ""
	case a == "TEXT":
		column.Cell = "CAST(" + ref + " AS TEXT)"
		column.Raw = "CAST(" + ref + " AS TEXT) COLLATE BINARY"
		column.Same = func(args []any, bind func(any) string) string {
			list := make([]string, 0, 2*len(args))
			for _, arg := range args {
				p := bind(arg)
				list = append(list, p, "CAST("+p+" AS BLOB)")
			}
			return ref + " COLLATE BINARY IN (" + strings.Join(list, ", ") + ")"
		}
	case strings.Contains(strings.ToUpper(c.DataType), "BLOB"):
		column.Class = ClassBytes
		column.Group = ref
		column.Guard = "typeof(" + ref + ") NOT IN ('blob', 'null')"
		return
	default:
		column.Raw = "CAST(" + ref + " AS TEXT) COLLATE BINARY"
		column.Guard = "typeof(" + ref + ") NOT IN ('text', 'integer', 'null')"
	}
	column.Class = ClassText
	column.Key, column.Text = column.Raw, column.Raw
}

// sqliteDay returns the condition that a value is the text of a date that exists.
func sqliteDay(expr string) string {
	const pattern = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
	return "typeof(" + expr + ") = 'text' AND " + expr + " GLOB '" + pattern + "' AND date(" + expr + ") = " + expr
}

// sqliteDatetime completes a column of texts with a date and perhaps a time. Its
// key is that text in one spelling, to the nanosecond.
func sqliteDatetime(column *Column, ref string) {
	column.Class = ClassDatetime
	column.Precision = 9
	second := "replace(substr(" + ref + ", 1, 19), 'T', ' ')"
	rest := "substr(" + ref + ", 20)"
	fraction := "rtrim(" + rest + ", 'Z')"
	column.Guard = "NOT ifnull(" + ref + " IS NULL OR typeof(" + ref + ") = 'text' AND (" +
		"length(" + ref + ") = 10 AND " + sqliteDay(ref) + " OR " +
		"substr(" + ref + ", 1, 19) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9]:[0-9][0-9]'" +
		" AND datetime(" + second + ") = " + second +
		" AND (" + rest + " IN ('', 'Z') OR " + rest + " GLOB '.[0-9]*' AND length(" + fraction + ") <= 10" +
		" AND substr(" + fraction + ", 2) NOT GLOB '*[^0-9]*' AND length(" + rest + ") - length(" + fraction + ") < 2)" +
		"), 0)"
	column.Key = "CASE WHEN length(" + ref + ") = 10 THEN " + ref + " || ' 00:00:00.000000000' ELSE " +
		second + " || '.' || substr(replace(" + fraction + ", '.', '') || '000000000', 1, 9) END"
	column.Raw = column.Key
}

// sqliteDecode returns a decoder of whatever value a column of that type holds.
// A value of another type stays what it is.
func sqliteDecode(t wire.Type) func(any) (wire.Value, error) {
	return func(driver any) (wire.Value, error) {
		switch v := driver.(type) {
		case string:
			return sqliteTextCell(t, v), nil
		case []byte:
			if t == wire.TypeString || t == wire.TypeReference {
				return wire.Bytes(v), nil
			}
			return sqliteTextCell(t, string(v)), nil
		case int64:
			return sqliteIntegerCell(t, v), nil
		case float64:
			return sqliteRealCell(t, v), nil
		case bool:
			return wire.Bool(v), nil
		case time.Time:
			return wire.Datetime(v), nil
		}
		return unexpected(driver, "a value of SQLite")
	}
}

// sqliteMixedDecode returns a decoder that reads whole reals as the integers that
// they are compared as.
func sqliteMixedDecode(t wire.Type) func(any) (wire.Value, error) {
	decode := sqliteDecode(t)
	return func(driver any) (wire.Value, error) {
		if f, ok := driver.(float64); ok && math.Abs(f) >= 1<<53 && math.Abs(f) <= 9223372036854774784 {
			driver = int64(f)
		}
		return decode(driver)
	}
}

func sqliteTextCell(t wire.Type, s string) wire.Value {
	switch t {
	case wire.TypeDecimal:
		if wire.IsDecimal(s) {
			return wire.Decimal(s)
		}
	case wire.TypeJSON, wire.TypeArray:
		if v := wire.JSON(s); v.Err() == nil {
			return v
		}
	case wire.TypeDate, wire.TypeDatetime:
		iso := withT(s)
		at, ok := filter.Instant(wire.Text(iso))
		if !ok {
			// Go's drivers store a time.Time so.
			var err error
			if at, err = time.Parse("2006-01-02 15:04:05.999999999 -0700 MST", s); err != nil {
				return wire.Text(s)
			}
			iso = at.UTC().Format(time.RFC3339Nano)
		}
		v := wire.Datetime(at)
		if t == wire.TypeDate {
			v = wire.Date(at.UTC())
		}
		if order, ok := filter.Compare(v, wire.Text(iso), wire.TypeDatetime); ok && order == 0 && v.Err() == nil {
			return v
		}
	}
	return wire.Text(s)
}

func sqliteIntegerCell(t wire.Type, n int64) wire.Value {
	switch t {
	case wire.TypeBoolean:
		return wire.Bool(n != 0)
	case wire.TypeDecimal:
		return wire.Decimal(strconv.FormatInt(n, 10))
	case wire.TypeDatetime:
		if v := wire.Datetime(time.Unix(n, 0)); v.Err() == nil {
			return v
		}
	case wire.TypeDate:
		if v := wire.Date(time.Unix(n, 0).UTC()); v.Err() == nil && n%86400 == 0 {
			return v
		}
	case wire.TypeString, wire.TypeReference, wire.TypeJSON, wire.TypeArray:
		return wire.Text(strconv.FormatInt(n, 10))
	}
	return wire.Int(n)
}

func sqliteRealCell(t wire.Type, f float64) wire.Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return wire.Null()
	}
	switch t {
	case wire.TypeDecimal:
		return wire.Decimal(text(wire.Float(f)))
	case wire.TypeDatetime:
		const epoch = 2440587.5 // 1970-01-01 as a Julian day
		if ms := math.Round((f - epoch) * 86_400_000); math.Abs(ms) < 1<<53 {
			if v := wire.Datetime(time.UnixMilli(int64(ms))); v.Err() == nil {
				return v
			}
		}
	case wire.TypeString, wire.TypeReference, wire.TypeJSON, wire.TypeArray:
		return wire.Text(text(wire.Float(f)))
	}
	return wire.Float(f)
}
