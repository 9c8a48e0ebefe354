package faulttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Trait says what a column holds, in the eyes of the author of a connector. A fault
// is planted at a column of some trait.
type Trait string

const (
	Key     Trait = "key"     // primary key, a counted integer
	Code    Trait = "code"    // unique text, such as ORD-00012
	Link    Trait = "link"    // foreign key
	Loose   Trait = "loose"   // refers to a key, and is not always found there
	Label   Trait = "label"   // few values, some of which differ only in case
	Words   Trait = "words"   // free text with quotes, wildcards, accents
	Tally   Trait = "tally"   // small integer, may be negative
	Big     Trait = "big"     // integer beyond 2^53
	Money   Trait = "money"   // decimal of a fixed scale
	Ratio   Trait = "ratio"   // decimal whose scale varies by row
	Reading Trait = "reading" // binary floating point
	Flag    Trait = "flag"    // boolean
	Day     Trait = "day"     // date
	Moment  Trait = "moment"  // instant with milliseconds
	Tags    Trait = "tags"    // array of texts and numbers
	Extra   Trait = "extra"   // JSON object
)

// A Set is a small business as a connector sees it. The same name and seed give the
// same tables, names and rows.
type Set struct {
	Name   string
	Seed   uint64
	Tables []memsource.Table // as discovery describes them
	Sites  []Site
}

// A Site is a column at which a fault can be planted.
type Site struct {
	Table, Column string
	Trait         Trait
	Type          wire.Type
	Nulls         bool // whether some cell is null
	Missing       int  // the number of nulls
	Target        string
	TargetColumn  string
	Other         string // another text column of the table, if the site holds text
	Rows          int
}

// Generators are the data sets, by name.
var Generators = []struct {
	Name     string
	generate func(*builder)
}{
	{"shop", shop},
	{"clinic", clinic},
	{"freight", freight},
	{"staff", staff},
}

// Generate returns a data set.
func Generate(name string, seed uint64) *Set {
	for i, g := range Generators {
		if g.Name != name {
			continue
		}
		b := &builder{
			Rand: rand.New(rand.NewPCG(seed, uint64(i)+77)),
			set:  &Set{Name: name, Seed: seed},
			zero: time.Date(2019+int(seed%5), 1, 1, 0, 0, 0, 0, time.UTC),
		}
		g.generate(b)
		return b.finish()
	}
	panic("no data set " + name)
}

// Table returns a table of the set by name.
func (s *Set) Table(name string) *memsource.Table {
	for i := range s.Tables {
		if s.Tables[i].Name == name {
			return &s.Tables[i]
		}
	}
	return nil
}

// builder makes a set, table by table.
type builder struct {
	*rand.Rand
	set  *Set
	zero time.Time // the first day of the business
}

// spec is a column to be: its trait, name and cells.
type spec struct {
	trait  Trait
	name   string
	kind   wire.Type
	cell   func(row int) wire.Value
	target [2]string // table and column that the key refers to
}

// table adds a table with rows.
func (b *builder) table(name string, rows int, specs ...spec) {
	t := memsource.Table{Table: wire.Table{Name: name, SourceDescription: "The " + name}}
	for _, s := range specs {
		f := wire.Field{Name: s.name, Type: s.kind, SourceDescription: "The " + s.name, Unique: s.trait == Code}
		t.Fields = append(t.Fields, f)
		site := Site{Table: name, Column: s.name, Trait: s.trait, Type: s.kind, Rows: rows}
		switch s.trait {
		case Key:
			t.PrimaryKey = []string{s.name}
		case Link:
			t.ForeignKeys = append(t.ForeignKeys,
				wire.ForeignKey{Field: s.name, TargetTable: s.target[0], TargetField: s.target[1]})
		}
		site.Target, site.TargetColumn = s.target[0], s.target[1]
		b.set.Sites = append(b.set.Sites, site)
	}
	for i := range rows {
		row := make([]wire.Value, len(specs))
		for j, s := range specs {
			row[j] = s.cell(i)
			if row[j].IsNull() {
				site := &b.set.Sites[len(b.set.Sites)-len(specs)+j]
				site.Nulls = true
				site.Missing++
			}
		}
		t.Rows = append(t.Rows, row)
	}
	b.set.Tables = append(b.set.Tables, t)
}

// finish completes the descriptions from the rows.
func (b *builder) finish() *Set {
	src, err := memsource.New(b.set.Tables, nil)
	if err != nil {
		panic(err)
	}
	found, err := src.Discover(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	for i := range found.Tables {
		b.set.Tables[i].Table = found.Tables[i]
	}
	for i, site := range b.set.Sites {
		for _, other := range b.set.Sites {
			if site.Type == wire.TypeString && other.Table == site.Table && other.Type == site.Type && other != site {
				b.set.Sites[i].Other = other.Column
			}
		}
	}
	return b.set
}

// of returns one of some texts.
func (b *builder) of(texts ...string) string { return texts[b.IntN(len(texts))] }

// between returns a number of rows.
func (b *builder) between(least, most int) int { return least + b.IntN(most-least) }

// sparse adds nulls: one cell in every few.
func (b *builder) sparse(every int, s spec) spec {
	full := s.cell
	s.cell = func(row int) wire.Value {
		if b.IntN(every) == 0 {
			return wire.Null()
		}
		return full(row)
	}
	return s
}

func (b *builder) key(name string) spec {
	first := int64(1 + b.IntN(5000))
	return spec{Key, name, wire.TypeNumber, func(i int) wire.Value { return wire.Int(first + int64(i)*3) }, [2]string{}}
}

func (b *builder) code(name, prefix string) spec {
	first := b.IntN(900)
	return spec{Code, name, wire.TypeString, func(i int) wire.Value {
		return wire.Text(fmt.Sprintf("%s-%05d", prefix, first+i*7))
	}, [2]string{}}
}

// link refers to the key of a table that is already there.
func (b *builder) link(name, table string) spec {
	t := b.set.Table(table)
	return spec{Link, name, wire.TypeNumber, func(int) wire.Value {
		return t.Rows[b.IntN(len(t.Rows)*4/5)][0] // some keys are never referred to
	}, [2]string{table, t.Fields[0].Name}}
}

// loose refers to a key of a table, or to none that exists.
func (b *builder) loose(name, table string) spec {
	s := b.link(name, table)
	known := s.cell
	s.trait = Loose
	s.cell = func(i int) wire.Value {
		if b.IntN(6) == 0 {
			return wire.Int(int64(900_000 + b.IntN(9)))
		}
		return known(i)
	}
	return s
}

// label adds a column of a few words, now and then in another case.
func (b *builder) label(name string, words ...string) spec {
	return spec{Label, name, wire.TypeString, func(int) wire.Value {
		w := b.of(words...)
		switch b.IntN(9) {
		case 0:
			w = strings.ToUpper(w)
		case 1:
			first, size := utf8.DecodeRuneInString(w)
			w = string(unicode.ToUpper(first)) + w[size:]
		}
		return wire.Text(w)
	}, [2]string{}}
}

var pieces = strings.Fields(`north South blue Élan Zoë Łukasz straße O'Brien 50% under_score back\slash "quoted"
	plus+one
	a&b café naïve Øre über 日本 São semi;colon com,ma tab per-cent Müller null true 42 007 1.50 Anna anna ANNA`)

// words adds a column of free text. A few texts are empty, end in a blank or are long.
func (b *builder) words(name string) spec {
	return spec{Words, name, wire.TypeString, func(int) wire.Value {
		switch b.IntN(25) {
		case 0:
			return wire.Text("")
		case 1:
			return wire.Text(b.of(pieces...) + " ")
		case 2:
			return wire.Text(strings.Repeat(b.of(pieces...)+" ", 60) + b.of(pieces...))
		case 3:
			return wire.Text("line\r\nbreak " + b.of(pieces...))
		case 4:
			return wire.Text("e\u0301t\u00e9 " + b.of(pieces...)) // the same letter in two ways
		}
		text := b.of(pieces...)
		for range b.IntN(3) {
			text += " " + b.of(pieces...)
		}
		return wire.Text(text)
	}, [2]string{}}
}

func (b *builder) tally(name string, least, most int) spec {
	return spec{Tally, name, wire.TypeNumber, func(int) wire.Value {
		return wire.Int(int64(least + b.IntN(most-least)))
	}, [2]string{}}
}

// big adds a column of neighbours beyond 2^53, which a float cannot tell apart.
func (b *builder) big(name string) spec {
	base := int64(1)<<53 + b.Int64N(1<<40)
	return spec{Big, name, wire.TypeNumber, func(int) wire.Value { return wire.Int(base + b.Int64N(300)) }, [2]string{}}
}

func (b *builder) money(name string, scale int, most int64) spec {
	return spec{Money, name, wire.TypeDecimal, func(int) wire.Value {
		return wire.Decimal(fixed(b.Int64N(most)-most/10, scale))
	}, [2]string{}}
}

// fixed spells an integer as a decimal of some scale.
func fixed(n int64, scale int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	text := fmt.Sprintf("%0*d", scale+1, n)
	return sign + text[:len(text)-scale] + "." + text[len(text)-scale:]
}

func (b *builder) ratio(name string) spec {
	return spec{Ratio, name, wire.TypeDecimal, func(int) wire.Value {
		return wire.Decimal(b.of(
			"0.5", "0.50", "0.125", "1", "1.0", "12.75", "12.750", "-3.2", "100", "0.1", "0.3", "7.005"))
	}, [2]string{}}
}

func (b *builder) reading(name string) spec {
	return spec{Reading, name, wire.TypeNumber, func(int) wire.Value {
		return wire.Float(float64(b.IntN(4000)-600)/64 + 0.1)
	}, [2]string{}}
}

func (b *builder) flag(name string) spec {
	return spec{Flag, name, wire.TypeBoolean, func(int) wire.Value { return wire.Bool(b.IntN(3) > 0) }, [2]string{}}
}

// day adds a column of dates, many of them first or last days of a month.
func (b *builder) day(name string) spec {
	return spec{Day, name, wire.TypeDate, func(int) wire.Value {
		d := b.zero.AddDate(0, b.IntN(30), 0)
		switch b.IntN(3) {
		case 0:
			d = d.AddDate(0, 0, -1)
		case 1:
			d = d.AddDate(0, 0, b.IntN(28))
		}
		return wire.Date(d)
	}, [2]string{}}
}

// moment adds a column of instants, some of them within an hour of midnight, of a change of
// summer time or of a quarter.
func (b *builder) moment(name string) spec {
	return spec{Moment, name, wire.TypeDatetime, func(int) wire.Value {
		t := b.zero.Add(time.Duration(b.Int64N(int64(600 * 24 * time.Hour))))
		switch b.IntN(5) {
		case 0:
			t = b.zero.AddDate(0, 3*b.IntN(6), 0).Add(time.Duration(b.IntN(120)-60) * time.Minute)
		case 1:
			t = t.Truncate(24 * time.Hour).Add(time.Duration(b.IntN(120)-60) * time.Minute)
		case 2:
			t = t.Truncate(time.Minute)
		}
		return wire.DatetimeWidth(t.Truncate(time.Millisecond), 3)
	}, [2]string{}}
}

func (b *builder) tags(name string, words ...string) spec {
	return spec{Tags, name, wire.TypeArray, func(int) wire.Value {
		var list []wire.Value
		for range b.IntN(4) {
			list = append(list, wire.Text(b.of(words...)))
		}
		return wire.Array(list...)
	}, [2]string{}}
}

func (b *builder) extra(name string) spec {
	return spec{Extra, name, wire.TypeJSON, func(int) wire.Value {
		return wire.JSON(fmt.Sprintf(`{"colour":%q,"size":%d}`, b.of("red", "blue", "grün"), b.IntN(5)))
	}, [2]string{}}
}
