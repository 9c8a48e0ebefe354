package rowmap_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shown returns the columns of a struct type with the cells of one value, as "name
// type cell", where a nullable type has a question mark. Of a type that has faults
// it returns these.
func shown[T any](v T) string {
	s, err := rowmap.Of[T]()
	if err != nil {
		return err.Error()
	}
	row := s.AppendRow(nil, &v)
	var list []string
	for i, f := range s.Table("t").Fields {
		cell, err := row[i].MarshalJSON()
		if err != nil {
			cell = []byte("invalid")
		}
		mark := ""
		if f.Nullable {
			mark = "?"
		}
		list = append(list, fmt.Sprintf("%s %s%s %s", f.Name, f.Type, mark, cell))
	}
	return strings.Join(list, "; ")
}

type (
	// NullPair looks like a type of package sql, and is none.
	NullPair struct {
		Name  string
		Valid bool
	}
	tree struct {
		Kids []tree `json:"kids,omitempty"`
		Next *tree  `json:"next,omitempty"`
	}
	ownJSON struct{ C chan int }
	ownText struct{ F func() }
	sealed  struct{ inner func() }
	lenient struct {
		F func() `json:"-"`
	}
	embedded struct{ F func() }

	// color and grade are bytes with a text of their own, dial one with JSON.
	color uint8
	grade uint8
	dial  uint8

	// These lead to themselves: the first four to no value, the others to lists,
	// objects and nil.
	ring     *ring
	ringA    *ringB
	ringB    *ringA
	ringNull *sql.Null[ringNull]
	nest     []nest
	nestMap  map[string]nestMap
	nestPtr  *[]nestPtr
)

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

func (ownText) MarshalText() ([]byte, error) { return []byte("t"), nil }

func (c color) MarshalText() ([]byte, error) { return []byte{'C', '0' + byte(c)}, nil }

func (g *grade) MarshalText() ([]byte, error) { return []byte{'G', '0' + byte(*g)}, nil }

func (d dial) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"d":%d}`, d), nil }

// TestStructField checks what one tag or one type makes of a field.
func TestStructField(t *testing.T) {
	dec := decimal.RequireFromString
	at := time.Date(2024, 5, 1, 2, 0, 0, 0, time.UTC)
	base := Base{7, at}
	const ids = `id number 7; created datetime "2024-05-01T02:00:00.000Z"`
	for _, c := range []struct{ why, got, want string }{
		{"a whole number at scale 0 has no dot", shown(struct {
			D decimal.Decimal `connector:"d,scale=0"`
		}{dec("12")}), `d decimal "12"`},
		{"nor has one whose fraction is 0", shown(struct {
			D decimal.Decimal `connector:"d,scale=0"`
		}{dec("12.0")}), `d decimal "12"`},
		{"a fraction does not fit scale 0", shown(struct {
			D decimal.Decimal `connector:"d,scale=0"`
		}{dec("12.5")}), `d decimal invalid`},
		{"a third digit that is 1 is not cut", shown(struct {
			D decimal.Decimal `connector:"d,scale=2"`
		}{dec("1.001")}), `d decimal invalid`},
		{"the scale of a text", shown(struct {
			D decimal.Decimal `connector:"d,string,scale=2"`
		}{dec("12.5")}), `d string "12.50"`},
		{"the scale of a reference", shown(struct {
			D decimal.Decimal `connector:"d,reference,scale=2"`
		}{dec("12.5")}), `d reference "12.50"`},
		{"a number has no trailing zeros, whatever the scale", shown(struct {
			D decimal.Decimal `connector:"d,number,scale=2"`
		}{dec("12.5")}), `d number 12.5`},
		{"the largest scale", shown(struct {
			D decimal.Decimal `connector:"d,scale=100"`
		}{}), `d decimal "0.` + strings.Repeat("0", 100) + `"`},
		{"a scale that is too large", shown(struct {
			D decimal.Decimal `connector:"d,scale=101"`
		}{}), ".D: scale must be 0 to 100"},
		{"a scale below 0", shown(struct {
			D decimal.Decimal `connector:"d,scale=-1"`
		}{}), ".D: scale must be 0 to 100"},
		{"a scale of 0 is one too", shown(struct {
			S string `connector:"s,scale=0"`
		}{}), ".S: scale is for decimal.Decimal alone"},
		{"no fraction of a second", shown(struct {
			T time.Time `connector:"t,datetime,width=0"`
		}{at}), `t datetime "2024-05-01T02:00:00Z"`},
		{"a fraction does not fit width 0", shown(struct {
			T time.Time `connector:"t,datetime,width=0"`
		}{at.Add(time.Millisecond)}), `t datetime invalid`},
		{"nanoseconds", shown(struct {
			T time.Time `connector:"t,datetime,width=9"`
		}{at}), `t datetime "2024-05-01T02:00:00.000000000Z"`},
		{"a width of 0 is one too", shown(struct {
			S string `connector:"s,datetime,width=0"`
		}{}), ".S: width is for a time.Time of type datetime alone"},
		{"a date has no width", shown(struct {
			T time.Time `connector:"t,date,width=3"`
		}{}), ".T: width is for a time.Time of type datetime alone"},
		{"a width that is no number", shown(struct {
			T time.Time `connector:"t,datetime,width="`
		}{}), ".T: width must be 0, 3, 6 or 9"},
		{"a date is the one that the time shows where it is", shown(struct {
			T time.Time `connector:"t,date"`
		}{at.In(time.FixedZone("", -4*3600))}), `t date "2024-04-30"`},

		{"a number as it came is a number", shown(struct{ N json.Number }{"1.50"}), `N number 1.5`},
		{"as a text it keeps its spelling", shown(struct {
			N json.Number `connector:"n,string"`
		}{"1.50"}), `n string "1.50"`},
		{"and as a reference", shown(struct {
			N json.Number `connector:"n,reference"`
		}{"007"}), `n reference "007"`},
		{"raw JSON as an array", shown(struct {
			R json.RawMessage `connector:"r,array"`
		}{json.RawMessage(`[ 1 ]`)}), `r array? "[1]"`},
		{"a text as an array", shown(struct {
			S string `connector:"s,array"`
		}{"[ 1 ]"}), `s array "[1]"`},
		{"a text that is no JSON is not made one", shown(struct {
			S string `connector:"s,array"`
		}{"nope"}), `s array invalid`},
		{"a text of its own as JSON", shown(struct {
			A netip.Addr `connector:"a,json"`
		}{netip.MustParseAddr("::1")}), `a json "\"::1\""`},
		{"as a reference", shown(struct {
			A netip.Addr `connector:"a,reference"`
		}{netip.MustParseAddr("::1")}), `a reference "::1"`},
		{"as a decimal that it is not", shown(struct {
			L level `connector:"l,decimal"`
		}{3}), `l decimal invalid`},
		{"a number below 0", shown(struct{ N int }{-5}), `N number -5`},
		{"an integer as a reference", shown(struct {
			N int8 `connector:"n,reference"`
		}{-5}), `n reference "-5"`},
		{"an array of bytes is a list of numbers", shown(struct{ B [2]byte }{[2]byte{1, 2}}), `B array "[1,2]"`},
		{"a slice can be nil, an array cannot", shown(struct {
			S []int
			A [1]int
		}{}), `S array? null; A array "[0]"`},
		{"a map can be nil, a struct cannot", shown(struct {
			M map[string]int
			S address
		}{}), `M json? null; S json "{\"city\":\"\"}"`},
		{"a struct named like one of package sql", shown(struct{ P NullPair }{}), `P json "{\"Name\":\"\",\"Valid\":false}"`},
		{"a zero that is valid, and a value that is not", shown(struct{ A, B sql.NullInt64 }{
			sql.NullInt64{Int64: 0, Valid: true}, sql.NullInt64{Int64: 1, Valid: false},
		}), `A number? 0; B number? null`},
		{"a time of type number", shown(struct {
			T time.Time `connector:"t,number"`
		}{}), `.T: a time.Time needs the type date or datetime in the tag`},
		{"a type's own zero", shown(struct {
			At    time.Time       `connector:"at,datetime,omitzero"`
			Price decimal.Decimal `connector:"price,omitzero"`
		}{time.Time{}.In(time.FixedZone("", 3600)), decimal.New(0, -2)}), `at datetime? null; price decimal? null`},
		{"zero and null", shown(struct {
			N int `connector:",omitzero"`
			M int
		}{}), `N number? null; M number 0`},

		{"what JSON encodes by itself", shown(struct {
			Tree tree
			J    ownJSON
			T    []ownText
			S    []sealed
			L    lenient
			M    map[int]string
			K    map[netip.Addr]int
		}{Tree: tree{Kids: []tree{{}}}}), `Tree json "{\"kids\":[{}]}"; J json "1"; T array? null; S array? null; L json "{}"; ` +
			`M json? null; K json? null`},
		{"lists of bytes with a text of their own are lists of texts", shown(struct {
			Colors []color
			None   []color
			Grades []grade
			Set    [2]color
			Ptrs   []*color
			Ptr    *[]color
			Keys   map[color][]color
		}{
			Colors: []color{1, 2}, Grades: []grade{3}, Set: [2]color{4, 5}, Ptrs: []*color{nil}, Ptr: &[]color{6},
			Keys: map[color][]color{7: {8}},
		}), `Colors array? "[\"C1\",\"C2\"]"; None array? null; Grades array? "[\"G3\"]"; Set array "[\"C4\",\"C5\"]"; ` +
			`Ptrs array? "[null]"; Ptr array? "[\"C6\"]"; Keys json? "{\"C7\":[\"C8\"]}"`},
		{"with JSON of their own, lists of that", shown(struct{ D []dial }{[]dial{1}}), `D array? "[{\"d\":1}]"`},
		{"a list of texts is not one text", shown(struct {
			C []color `connector:"c,string"`
		}{}), ".C: a []rowmap_test.color does not fit a column of type string; the types that fit are array json"},
		{"pointers that lead to no value", shown(struct{ R ring }{}), ".R: the type rowmap_test.ring is no value of a column; convert it"},
		{"in a circle of two", shown(struct{ R **ringA }{}), ".R: the type rowmap_test.ringA is no value of a column; convert it"},
		{"through a value that can be null", shown(struct{ R ringNull }{}), ".R: the type rowmap_test.ringNull is no value of a column; "},
		{"lists and objects of themselves are finite", shown(struct {
			N nest
			M nestMap
			P nestPtr
			R []ring
			Q **int
		}{N: nest{nil, {}}, M: nestMap{"a": nil}, P: &[]nestPtr{nil}, R: []ring{nil}}),
			`N array? "[null,[]]"; M json? "{\"a\":null}"; P array? "[null]"; R array? "[null]"; Q number? null`},
		{"one that holds itself has no JSON", shown(struct{ N nest }{itself()}), `N array? invalid`},
		{"what it cannot: a complex number", shown(struct{ S []struct{ C complex64 } }{}), ".S: C: holds the type complex64, "},
		{"the values of a map", shown(struct{ M map[string]chan int }{}), ".M: holds the type chan int, "},
		{"the fields of a struct that is embedded", shown(struct{ S []struct{ embedded } }{}), ".S: embedded: F: holds the type func(), "},

		{"an embedded struct behind a field", shown(struct {
			A int64
			Base
		}{1, base}), `A number 1; ` + ids},
		{"one in another", shown(struct {
			A     int64
			Outer struct{ B string } `connector:"outer"`
			outer
		}{A: 1, outer: outer{C: 2, Base: base}}), `A number 1; outer json "{\"B\":\"\"}"; c number 2; ` + ids},
		{"a pointer to one, in one", shown(struct {
			A int64
			far
		}{1, far{3, &address{"Bonn", "1"}}}), `A number 1; d number 3; city string? "Bonn"; zip string? "1"`},
		{"a name in the tag makes it one column", shown(struct {
			Base `connector:"base"`
		}{base}), `base json "{\"ID\":7,\"Created\":\"2024-05-01T02:00:00Z\"}"`},
		{"also one for JSON", shown(struct {
			Base `json:"base"`
		}{base}), `base json "{\"ID\":7,\"Created\":\"2024-05-01T02:00:00Z\"}"`},
		{"what is one value stays one when it is embedded", shown(struct {
			netip.Addr
			sql.NullString
			wire.Value `connector:",string"`
		}{netip.MustParseAddr("::1"), sql.NullString{String: "n", Valid: true}, wire.Text("v")}),
			`Addr string "::1"; NullString string? "n"; Value string? "v"`},
		{"times and decimals", shown(struct {
			time.Time           `connector:",date"`
			decimal.NullDecimal `connector:"n"`
		}{Time: at}), `Time date "2024-05-01"; n decimal? null`},

		{"an option without a name", shown(struct {
			A string `json:"-" connector:",unique"`
			B string `json:"b" connector:",unique"`
			//lint:ignore SA5008 the odd tag is what is tested
			C string `json:"-,"`
			D string `json:"-"`
		}{}), `A string ""; b string ""; - string ""`},
		{"the name of the first column, again", shown(struct {
			A string `connector:"a"`
			B string `connector:"a"`
		}{}), `.B: its column is named "a", as that of .A is`},
		{"a foreign key without a table", shown(struct {
			A string `connector:"a,fk=.id"`
		}{}), ".A: fk needs a table and a field, such as fk=customers.id"},
		{"and without a field", shown(struct {
			A string `connector:"a,fk=customers."`
		}{}), ".A: fk needs a table and a field, such as fk=customers.id"},
	} {
		if strings.HasPrefix(c.want, ".") { // a fault, named by its path
			assert.True(t, strings.HasPrefix(c.got, c.want), "%s: %s", c.why, c.got)
		} else {
			assert.Equal(t, c.want, c.got, c.why)
		}
	}
	_ = sealed{}.inner
}

// itself returns a list that is its own element.
func itself() nest {
	n := nest{nil}
	n[0] = n
	return n
}

type outer struct {
	C int `connector:"c"`
	Base
}

type far struct {
	D int `connector:"d"`
	*address
}

// TestStructTable checks what the tags say of the table.
func TestStructTable(t *testing.T) {
	type described struct {
		_ struct{} `description:"of the embedded struct"`
		A string   `connector:"a,pk,fk=one.id"`
	}
	s := structOf[struct {
		_ struct{} `description:"of the table"`
		described
		B string `connector:"b,pk"`
	}](t)
	table := s.Table("t")
	assert.Equal(t, "of the table", table.SourceDescription)
	assert.Equal(t, []string{"a", "b"}, table.PrimaryKey)
	assert.False(t, table.Fields[0].Unique || table.Fields[1].Unique, "a part of a key may repeat")
	table.ForeignKeys[0].TargetTable = "changed"
	assert.Equal(t, "one", s.Table("t").ForeignKeys[0].TargetTable, "a table is the caller's own")
	late := structOf[struct {
		described
		_ struct{} `description:"behind it"`
	}](t)
	assert.Equal(t, "behind it", late.Table("t").SourceDescription)
}

// TestStructKinds checks that a cell is of the kind that its column asks for, where
// its text alone does not tell.
func TestStructKinds(t *testing.T) {
	type kinds struct {
		A decimal.Decimal `connector:"a,string,scale=2"`
		B int             `connector:"b,decimal"`
		C int             `connector:"c,string"`
	}
	row := structOf[kinds](t).AppendRow(nil, &kinds{A: decimal.RequireFromString("12.5"), B: 7, C: 7})
	assert.Equal(t, []wire.Value{wire.Text("12.50"), wire.Decimal("7"), wire.Text("7")}, row)
}

// TestDecimal checks that a cell keeps the digits and the scale of a
// decimal.Decimal, and does not obey the package's global settings.
func TestDecimal(t *testing.T) {
	trailing := decimal.TrimTrailingZeros
	decimal.TrimTrailingZeros = true
	defer func() { decimal.TrimTrailingZeros = trailing }()
	type amounts struct {
		Plain       decimal.Decimal
		Valid, None decimal.NullDecimal
	}
	mapping := testkit.Must(rowmap.Of[amounts]())(t)
	cells := func(d decimal.Decimal) []wire.Value {
		return mapping.AppendRow(nil, &amounts{Plain: d, Valid: decimal.NewNullDecimal(d)})
	}
	long := "-123456789012345678901234567890.123456789012345678901234567890"
	for _, c := range []struct {
		d    decimal.Decimal
		want string
	}{
		{decimal.Decimal{}, "0"},
		{decimal.New(1250, -2), "12.50"},
		{decimal.New(-1250, -2), "-12.50"},
		{decimal.New(5, -3), "0.005"},
		{decimal.New(-5, -1), "-0.5"},
		{decimal.New(0, -2), "0.00"},
		{decimal.New(0, 3), "0"},
		{decimal.New(12, 3), "12000"},
		{decimal.New(7, 0), "7"},
		{decimal.RequireFromString(long), long},
		{decimal.RequireFromString("1.10").Add(decimal.RequireFromString("1.9")), "3.00"},
		{decimal.New(1, 400), "1" + strings.Repeat("0", 400)},
		{decimal.New(1, -401), "0." + strings.Repeat("0", 400) + "1"},
	} {
		row := cells(c.d)
		assert.NoError(t, row[0].Err(), c.want)
		assert.Equal(t, c.want, row[0].String())
		assert.Equal(t, wire.KindDecimal, row[0].Kind())
		assert.Equal(t, row[0], row[1])
		assert.True(t, row[2].IsNull())
	}
	for _, exponent := range []int32{401, 1 << 30, math.MaxInt32, -402, math.MinInt32} {
		row := cells(decimal.New(1, exponent))
		assert.Error(t, row[0].Err(), "1e%d", exponent)
		assert.Error(t, row[1].Err(), "1e%d", exponent)
	}
}
