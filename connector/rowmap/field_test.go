package rowmap_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shown returns the columns of a struct type with the cells of one value, as "name type cell", where a nullable type
// has a question mark. Of a type that has faults it returns these.
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

	// These lead to themselves: the first four to no value, the others to lists, objects and nil.
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
	type corners struct {
		D1 decimal.Decimal `connector:"d1,scale=0"`
		D2 decimal.Decimal `connector:"d2,scale=0"`
		D3 decimal.Decimal `connector:"d3,scale=0"`
		D4 decimal.Decimal `connector:"d4,scale=2"`
		D5 decimal.Decimal `connector:"d5,string,scale=2"`
		D6 decimal.Decimal `connector:"d6,reference,scale=2"`
		D7 decimal.Decimal `connector:"d7,number,scale=2"`
		D8 decimal.Decimal `connector:"d8,scale=100"`
		T1 time.Time       `connector:"t1,datetime,width=0"`
		T2 time.Time       `connector:"t2,datetime,width=0"`
		T3 time.Time       `connector:"t3,datetime,width=9"`
		T4 time.Time       `connector:"t4,date"`
		N1 json.Number     `connector:"n1"`
		N2 json.Number     `connector:"n2,string"`
		N3 json.Number     `connector:"n3,reference"`
		R1 json.RawMessage `connector:"r1,array"`
		S1 string          `connector:"s1,array"`
		S2 string          `connector:"s2,array"`
		A1 netip.Addr      `connector:"a1,json"`
		A2 netip.Addr      `connector:"a2,reference"`
		L1 level           `connector:"l1,decimal"`
		N4 int             `connector:"n4"`
		N5 int8            `connector:"n5,reference"`
		B1 [2]byte         `connector:"b1"`
		P1 NullPair        `connector:"p1"`
		D9 []dial          `connector:"d9"`
		N6 nest            `connector:"n6"`
	}
	type misfits struct {
		D10 decimal.Decimal         `connector:"d10,scale=101"`
		D11 decimal.Decimal         `connector:"d11,scale=-1"`
		S3  string                  `connector:"s3,scale=0"`
		S4  string                  `connector:"s4,datetime,width=0"`
		T5  time.Time               `connector:"t5,date,width=3"`
		T6  time.Time               `connector:"t6,datetime,width="`
		T7  time.Time               `connector:"t7,number"`
		C1  []color                 `connector:"c1,string"`
		R2  ring                    `connector:"r2"`
		R3  **ringA                 `connector:"r3"`
		R4  ringNull                `connector:"r4"`
		S5  []struct{ C complex64 } `connector:"s5"`
		M1  map[string]chan int     `connector:"m1"`
		S6  []struct{ embedded }    `connector:"s6"`
		A3  string                  `connector:"a3,fk=.id"`
		A4  string                  `connector:"a4,fk=customers."`
	}
	var want []string
	for _, c := range testkit.Table(t, "testdata/corners.txt", 3) {
		want = append(want, c[0]+" "+c[1])
	}
	columns := strings.Split(shown(corners{
		D1: dec("12"), D2: dec("12.0"), D3: dec("12.5"), D4: dec("1.001"), D5: dec("12.5"), D6: dec("12.5"),
		D7: dec("12.5"), T1: at, T2: at.Add(time.Millisecond), T3: at, T4: at.In(time.FixedZone("", -4*3600)),
		N1: "1.50", N2: "1.50", N3: "007", R1: json.RawMessage(`[ 1 ]`), S1: "[ 1 ]", S2: "nope",
		A1: netip.MustParseAddr("::1"), A2: netip.MustParseAddr("::1"), L1: 3, N4: -5, N5: -5,
		B1: [2]byte{1, 2}, D9: []dial{1}, N6: itself(),
	}), "; ")
	assert.Equal(t, want, columns)
	faults, rows := strings.Split(shown(misfits{}), "\n"), testkit.Table(t, "testdata/misfits.txt", 3)
	require.Len(t, faults, len(rows))
	for i, c := range rows {
		assert.True(t, strings.HasPrefix(faults[i], "misfits."+c[0]+": "+c[1]), "%s: %s", c[2], faults[i])
	}
	for _, c := range []struct{ why, got, want string }{
		{"a slice can be nil, an array cannot", shown(struct {
			S []int
			A [1]int
		}{}), `S array? null; A array "[0]"`},
		{"a map can be nil, a struct cannot", shown(struct {
			M map[string]int
			S address
		}{}), `M json? null; S json "{\"city\":\"\"}"`},
		{"a zero that is valid, and a value that is not", shown(struct{ A, B sql.NullInt64 }{
			sql.NullInt64{Int64: 0, Valid: true}, sql.NullInt64{Int64: 1, Valid: false},
		}), `A number? 0; B number? null`},
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
		{"lists and objects of themselves are finite", shown(struct {
			N nest
			M nestMap
			P nestPtr
			R []ring
			Q **int
		}{N: nest{nil, {}}, M: nestMap{"a": nil}, P: &[]nestPtr{nil}, R: []ring{nil}}),
			`N array? "[null,[]]"; M json? "{\"a\":null}"; P array? "[null]"; R array? "[null]"; Q number? null`},
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

// badText has text that is not UTF-8.
type badText struct{}

func (badText) MarshalText() ([]byte, error) { return []byte("\xff"), nil }

// TestNestedText checks that no byte of a nested text is replaced, as encoding/json does: such a cell is invalid.
func TestNestedText(t *testing.T) {
	type within struct {
		A   string
		Out string `json:"-"`
		out string
	}
	type columns struct {
		List   []string         `connector:"list"`
		Keys   map[string]int   `connector:"keys"`
		Values map[int]*string  `connector:"values"`
		Any    map[string]any   `connector:"any"`
		Field  within           `connector:"field"`
		Within struct{ within } `connector:"within"`
		Own    []badText        `connector:"own"`
	}
	fill := func(text string) string {
		w := within{A: text, Out: "\xff", out: "\xff"}
		c := columns{
			[]string{text}, map[string]int{text: 1}, map[int]*string{1: &text}, map[string]any{"a": []any{nil, text}}, w, struct{ within }{w}, nil,
		}
		if text == "\xff" {
			c.Own = []badText{{}}
		}
		return shown(c)
	}
	assert.Equal(t, `list array? invalid; keys json? invalid; values json? invalid; any json? invalid; field json invalid; `+
		`within json invalid; own array? invalid`, fill("\xff"))
	const same = `list array? "[\"T\"]"; keys json? "{\"T\":1}"; values json? "{\"1\":\"T\"}"; any json? "{\"a\":[null,\"T\"]}"; ` +
		`field json "{\"A\":\"T\"}"; within json "{\"A\":\"T\"}"; own array? null`
	assert.Equal(t, strings.ReplaceAll(same, "T", "\uFFFD"), fill("\uFFFD"), "the character that replaces others may be the source's own")
	assert.Equal(t, strings.ReplaceAll(same, "T", `\\\\ufffd`), fill(`\ufffd`))
	assert.Equal(t, `r array? "[\"\\ufffd\"]"`, shown(struct {
		R []json.RawMessage `connector:"r"`
	}{[]json.RawMessage{[]byte(`"\ufffd"`)}}), "so may its escape")
}

// TestStructTable checks what the tags say of the table.
func TestStructTable(t *testing.T) {
	type described struct {
		_ struct{} `description:"of the embedded struct"`
		A string   `connector:"a,pk,fk=one.id"`
	}
	s := testkit.Must(rowmap.Of[struct {
		_ struct{} `description:"of the table"`
		described
		B string `connector:"b,pk"`
	}]())(t)
	table := s.Table("t")
	assert.Equal(t, "of the table", table.SourceDescription)
	assert.Equal(t, []string{"a", "b"}, table.PrimaryKey)
	assert.False(t, table.Fields[0].Unique || table.Fields[1].Unique, "a part of a key may repeat")
	table.ForeignKeys[0].TargetTable = "changed"
	assert.Equal(t, "one", s.Table("t").ForeignKeys[0].TargetTable, "a table is the caller's own")
	late := testkit.Must(rowmap.Of[struct {
		described
		_ struct{} `description:"behind it"`
	}]())(t)
	assert.Equal(t, "behind it", late.Table("t").SourceDescription)
}

// TestStructKinds checks that a cell is of the kind that its column asks for, where its text alone does not tell.
func TestStructKinds(t *testing.T) {
	type kinds struct {
		A decimal.Decimal `connector:"a,string,scale=2"`
		B int             `connector:"b,decimal"`
		C int             `connector:"c,string"`
	}
	row := testkit.Must(rowmap.Of[kinds]())(t).AppendRow(nil, &kinds{A: decimal.RequireFromString("12.5"), B: 7, C: 7})
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
	check := func(d decimal.Decimal, want string) {
		row := cells(d)
		assert.NoError(t, row[0].Err(), want)
		assert.Equal(t, want, row[0].String())
		assert.Equal(t, wire.KindDecimal, row[0].Kind())
		assert.Equal(t, row[0], row[1])
		assert.True(t, row[2].IsNull())
	}
	check(decimal.Decimal{}, "0")
	check(decimal.RequireFromString("1.10").Add(decimal.RequireFromString("1.9")), "3.00")
	for _, c := range testkit.Table(t, "testdata/decimals.tsv", 3) {
		coefficient := decimal.RequireFromString(c[0]).Coefficient()
		check(decimal.NewFromBigInt(coefficient, int32(testkit.Must(strconv.Atoi(c[1]))(t))), c[2])
	}
	for _, exponent := range []int32{401, 1 << 30, math.MaxInt32, -402, math.MinInt32} {
		row := cells(decimal.New(1, exponent))
		assert.Error(t, row[0].Err(), "1e%d", exponent)
		assert.Error(t, row[1].Err(), "1e%d", exponent)
	}
}
