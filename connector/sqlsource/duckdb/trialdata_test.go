package duckdb_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// kind is what a stored value is, before any format spells it.
type kind byte

const (
	noValue    kind = iota
	aText           // whatever it looks like
	aNumber         // as it is spelled in JSON
	aBoolean        // true or false
	aDate           // of ISO 8601
	aDatetime       // of ISO 8601
	aJSON           // a list or an object
	aPlainText      // of CSV or the name of a folder: it may be any of them
)

// stored is a value as a file stores it.
type stored struct {
	kind kind
	text string
}

// place is where a value stands: the generator of a column decides by it when its values
// change their form.
type place struct {
	*rand.Rand
	file, files, row, rows int
}

// late reports whether the place is among the last of its table: behind what a reader
// samples.
func (p place) late() bool { return p.file == p.files-1 && p.row >= p.rows-max(1, p.rows/8) }

func (p place) number(format string, of ...any) stored {
	return stored{aNumber, fmt.Sprintf(format, of...)}
}

func (p place) one(k kind, texts ...string) stored { return stored{k, texts[p.IntN(len(texts))]} }

// drifts are columns whose values change their form on the way, by name. Each is an
// ordinary column of somebody's files.
var drifts = map[string]func(p place) stored{
	"ints": func(p place) stored { return p.number("%d", p.IntN(2000)-1000) },
	"intsThenFraction": func(p place) stored {
		if p.late() {
			return p.number("%d.%d", p.IntN(100), 1+p.IntN(9))
		}
		return p.number("%d", p.IntN(1000))
	},
	"scales": func(p place) stored { return p.number("%d.%0*d", p.IntN(1000), 1+p.file*2, 1+p.IntN(9)) },
	"wideIntegers": func(p place) stored {
		return p.one(aNumber, "12345678901234567890", "9007199254740993", "-9223372036854775808", "18446744073709551615", "7")
	},
	"longDecimals": func(p place) stored {
		return p.one(aNumber, "12345678901234567.89", "0.1", "9007199254740993", "1.5", "100000000000000000000.000000001")
	},
	"bigBesideFraction": func(p place) stored {
		if p.late() {
			return p.number("1.5")
		}
		return p.number("90071992547409%d", 91+p.IntN(9))
	},
	"zips": func(p place) stored {
		if p.late() {
			return p.one(aText, "00501", "007")
		}
		return stored{aText, strconv.Itoa(10000 + p.IntN(80000))}
	},
	"exponents": func(p place) stored {
		if p.late() {
			return p.one(aNumber, "1e-3", "12E5", "1.5e+2", "0.00015")
		}
		return p.number("%d", p.IntN(100))
	},
	"partNumbers":   func(p place) stored { return p.one(aText, "12E5", "1e3", "7", "90") },
	"phones":        func(p place) stored { return p.one(aText, "+4930123", "030123", "115", "0") },
	"negativeZero":  func(p place) stored { return p.one(aNumber, "-0.0", "0", "0.00", "5") },
	"thousands":     func(p place) stored { return p.one(aText, "1,000", "12", "1,234,567") },
	"decimalCommas": func(p place) stored { return p.one(aText, "1,5", "12", "0,25") },
	"oddNumbers":    func(p place) stored { return p.one(aText, "1_000", "0x1F", "1.", ".5", "12", "1 000", "٣") },
	"padded":        func(p place) stored { return p.one(aText, " 1", "2 ", "3", "\t4", " ") },
	"notNumbers": func(p place) stored {
		if p.late() {
			return p.one(aText, "n/a", "NaN", "inf", "-Infinity", "NULL", "null", "-", "None", "\\N")
		}
		return stored{aText, strconv.Itoa(p.IntN(100))}
	},
	"days": func(p place) stored { return p.dayOf() },
	"daysThenTimes": func(p place) stored {
		if p.late() {
			return stored{aDatetime, p.dayOf().text + "T10:30:00"}
		}
		return p.dayOf()
	},
	"offsets": func(p place) stored {
		zone := ""
		if p.late() {
			zone = []string{"+05:00", "-03:30", "Z"}[p.IntN(3)]
		}
		return stored{aDatetime, p.dayOf().text + "T23:15:00" + zone}
	},
	"fractions": func(p place) stored {
		return stored{aDatetime, p.dayOf().text + "T08:00:00" + []string{"", ".5", ".123", ".123456", ".123456789"}[p.IntN(5)]}
	},
	"nearDays": func(p place) stored {
		return p.one(aText, "2024-02-30", "2024-1-5", "0000-00-00", "20240101", "2024-01-01 24:00", "now", "today", "epoch", "infinity",
			"2024-01-01T10:00:60Z", "10000-01-01", "2024-W01-1")
	},
	"slashedDays": func(p place) stored { return stored{aText, fmt.Sprintf("%02d/%02d/2024", 1+p.IntN(12), 1+p.IntN(12))} },
	"shortDays":   func(p place) stored { return stored{aText, fmt.Sprintf("%02d/%02d/24", 1+p.IntN(12), 1+p.IntN(12))} },
	"dottedDays":  func(p place) stored { return stored{aText, fmt.Sprintf("%02d.%02d.2024", 1+p.IntN(12), 1+p.IntN(12))} },
	"clocks": func(p place) stored {
		if p.late() {
			return p.one(aText, "12:30:00+05:00", "7:05", "24:00:00", "12:30 PM")
		}
		return p.one(aText, "12:30", "12:30:45", "08:00")
	},
	"booleans": func(p place) stored { return p.one(aBoolean, "true", "false") },
	"capitals": func(p place) stored { return p.one(aText, "TRUE", "False", "true") },
	"yesNo":    func(p place) stored { return p.one(aText, "yes", "no", "Y", "t", "f", "on") },
	"bits":     func(p place) stored { return p.one(aText, "0", "1") },
	"comments": func(p place) stored { return p.one(aText, "#1001", "# x", "1002", "//", "--", "%") },
	"quotedLines": func(p place) stored {
		return p.one(aText, "a\nb", "a\r\nb", "\"", "\"\"", "x,y", "'", "\n", "a\tb", "\\", "\\\"")
	},
	"signs": func(p place) stored {
		return p.one(aText, "日本", "😀", "é", "e\u0301", "ß", "\u00a0", "a;b|c", "\ufeffx")
	},
	"prices":  func(p place) stored { return p.one(aText, "€10", "é", "5 €", "x") },
	"accents": func(p place) stored { return p.one(aText, "Müller", "ÿ", "£", "plain") },
	"uuids": func(p place) stored {
		return p.one(aText, "8F14E45F-CEEA-467A-9B3C-000000000001", "8f14e45fceea467a9b3c000000000001", "{8f14e45f-ceea-467a-9b3c-000000000001}")
	},
	"jsonTexts": func(p place) stored { return p.one(aText, `{"a": 1}`, `[1, 2]`, `{a:1}`, `{"a":1,"a":2}`, "null") },
	"sparse":    func(p place) stored { return p.or(3, func() stored { return p.number("%d", p.IntN(10)) }) },
	"emptyAtFirst": func(p place) stored {
		return p.onlyIf(p.late(), func() stored { return p.one(aText, "0012", "x", "2024-01-01") })
	},
	"never": func(place) stored { return stored{} },
	"lists": func(p place) stored {
		return stored{aJSON, [...]string{`[1,2,3]`, `[]`, `[9007199254740993]`, `[1.5]`, `[[1],[2]]`}[p.file%5]}
	},
	"objects": func(p place) stored {
		if p.late() {
			return stored{aJSON, `{"a":1,"later":{"deep":"x"}}`}
		}
		return stored{aJSON, fmt.Sprintf(`{"a":%d}`, p.IntN(100))}
	},
	"preciseObjects": func(p place) stored {
		return p.one(aJSON, `{"precise":12345678901234567.89}`, `{"precise":1.0}`, `{"precise":9007199254740993}`)
	},
	"mixed": func(p place) stored {
		return []stored{{aNumber, "7"}, {aText, "7"}, {aText, "007"}, {aBoolean, "true"}, {}, {aDate, "2024-01-01"}}[p.IntN(6)]
	},
	"typesByFile": func(p place) stored {
		return []stored{{aNumber, "7"}, {aText, "007"}, {aNumber, "7.25"}, {aDate, "2024-01-01"}, {aBoolean, "true"}}[(p.file+p.files)%5]
	},
	"wideObjects": func(p place) stored {
		var b strings.Builder
		for i := range 210 {
			fmt.Fprintf(&b, `,"m%03d":%d`, i, 9007199254740993+i)
		}
		return stored{aJSON, "{" + b.String()[1:] + "}"}
	},
}

// spellings are texts that some reader takes for something else. Each list is a drift of its own, and so
// are some of two lists, the second of which comes last.
var spellings = [][]string{
	{"0", "1", "-1", "42", "1000000"},
	{"9223372036854775807", "-9223372036854775808", "9223372036854775808", "12345678901234567890123456789012345678"},
	{strings.Repeat("9", 39), strings.Repeat("8", 50)},
	{"1.5", "-0.25", "10.250", "0.00", "-0.0", "12345678901234567.89"},
	{"0." + strings.Repeat("0", 30) + "1", strings.Repeat("7", 20) + ".5"},
	{"007", "+49", "1e3", "1_000", "1,000", " 1", "1 ", ".5", "5.", "0x10", "1d", "∞", "NaN", "inf", "-", "--1", "1-1"},
	{"true", "false", "TRUE", "False"}, {"t", "yes", "1", "0", "T"},
	{"2024-02-29", "0001-01-01", "9999-12-31", "1969-12-31"}, {"0000-01-01", "2023-02-29", "2024-2-9", "20240229", "01/02/2024"},
	{"2024-02-29T10:00:00", "2024-02-29 10:00:00Z", "2024-02-29T10:00:00.5", "1677-01-01T00:00:00"},
	{"2024-02-29T10:00:00.123456", "2024-02-29T10:00:00.123456789", "2024-02-29T10:00", "2024-02-29 10:00+02:00"},
	{"2024-02-29T10:00:00+05:30", "2024-02-29T23:59:59.25-12:00", "2024-02-29T24:00:00", "2024-02-29T10:00:60Z"},
	{"12:30", "12:30:00", "25:00"}, {"[1, 2.50]", "[]", `["a"]`}, {`{"a":1.50}`, "{}"}, {"{a:1}", "[1", "null", "NULL"},
	{"a", "Ä", "😀", "a\"b", "'", "\\", "\\N", "a,b", "a;b", "x\ny", "x\r\ny", "#1", "-- x", "\t", "a\x00b", "\u2028"},
	{"00000000-0000-0000-0000-000000000001", "BBD05AE7000000000000000000000000"},
}

func init() {
	for i, list := range spellings {
		drifts[fmt.Sprint("spellings", i)] = func(p place) stored { return p.or(8, func() stored { return p.one(aText, list...) }) }
		others := spellings[(i*7+3)%len(spellings)]
		drifts[fmt.Sprint("spellings", i, "then")] = func(p place) stored {
			if p.late() {
				return p.one(aText, others...)
			}
			return p.one(aText, list...)
		}
	}
}

func (p place) dayOf() stored {
	return stored{aDate, fmt.Sprintf("20%02d-%02d-%02d", p.IntN(40), 1+p.IntN(12), 1+p.IntN(28))}
}

// or returns a value, or none once in so many times.
func (p place) or(times int, value func() stored) stored { return p.onlyIf(p.IntN(times) > 0, value) }

func (p place) onlyIf(ok bool, value func() stored) stored {
	if ok {
		return value()
	}
	return stored{}
}

// trialTable is a table as it is stored: the rows of one or more files.
type trialTable struct {
	columns   []string // all of them
	files     []trialFile
	partition string // the name of the column that folders are; empty: none
}

// trialFile is a file. Its rows begin with their number, which no other row of the table
// has.
type trialFile struct {
	columns []string // of the file, in its order
	rows    []map[string]stored
	value   string // of the partition
	variant int    // of the types that Parquet has for a number
}

// idColumn numbers the rows of a table.
const idColumn = "rowNo"

// partitionValues are the names of folders, as Hive and Spark write them, and what they
// mean.
var partitionValues = map[string][]string{
	"year":   {"2024", "2025", "__HIVE_DEFAULT_PARTITION__"},
	"code":   {"01", "1", "007"},
	"region": {"a b", "a%2Fb", "__HIVE_DEFAULT_PARTITION__", "NULL"},
	"since":  {"2024-01-01", "2024-02-30", "2024-01-02"},
	"share":  {"1.5", "2", "1.50"},
}

// newTable makes a table of so many columns.
func newTable(random *rand.Rand, names []string) *trialTable {
	t := &trialTable{columns: []string{idColumn}}
	files, rows := 1, 1+random.IntN(12)
	if random.IntN(3) > 0 {
		files = 2 + random.IntN(3)
	}
	if random.IntN(40) == 0 { // more than an engine samples
		files, rows = 1, 21_000+random.IntN(2000)
	}
	var values []string
	if files > 1 && random.IntN(4) == 0 {
		t.partition = pick(random, keys(partitionValues))
		values = partitionValues[t.partition]
	}
	wide := 3 + random.IntN(4)
	if rows > 1000 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "wideObjects" })
		wide = 2
	}
	t.columns = append(t.columns, names[:wide]...)
	id, first := 0, random.IntN(2) == 0
	for file := range files {
		f := trialFile{columns: append([]string(nil), t.columns...), variant: random.IntN(3)}
		if values != nil {
			f.value = values[file%len(values)]
		}
		if files > 1 && random.IntN(4) == 0 { // a file that lacks a column
			lost := 1 + random.IntN(len(f.columns)-1)
			f.columns = append(f.columns[:lost], f.columns[lost+1:]...)
		}
		if first { // a drift comes first
			f.columns[0], f.columns[1] = f.columns[1], f.columns[0]
		}
		if random.IntN(4) == 0 { // in another order
			random.Shuffle(len(f.columns), func(i, j int) { f.columns[i], f.columns[j] = f.columns[j], f.columns[i] })
		}
		for row := range rows {
			values := map[string]stored{idColumn: {aNumber, strconv.Itoa(id)}}
			for _, c := range f.columns {
				if c != idColumn {
					values[c] = drifts[c](place{random, file, files, row, rows})
				}
			}
			f.rows = append(f.rows, values)
			id++
		}
		t.files = append(t.files, f)
	}
	t.columns = slices.DeleteFunc(t.columns, func(c string) bool {
		return !slices.ContainsFunc(t.files, func(f trialFile) bool { return slices.Contains(f.columns, c) })
	})
	return t
}

func pick(random *rand.Rand, list []string) string { return list[random.IntN(len(list))] }
