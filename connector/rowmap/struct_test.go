package rowmap_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"math/big"
	"net/netip"
	"slices"
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

type level int

func (l level) MarshalText() ([]byte, error) {
	if l < 0 {
		return nil, errors.New("no such level")
	}
	return []byte{'L', '0' + byte(l)}, nil
}

type address struct {
	City string `json:"city"`
	Zip  string `json:"zip,omitempty"`
}

type audit struct {
	By  *string `connector:"by"`
	Why string  `connector:"why"`
}

type Base struct {
	ID      int64     `connector:"id,pk"`
	Created time.Time `connector:"created,datetime,width=3"`
}

type everything struct {
	_ struct{} `description:"One of everything"`
	Base
	*audit
	Total    decimal.Decimal     `connector:"total,scale=2" description:"In euros"`
	Discount decimal.NullDecimal `connector:"discount"`
	Share    decimal.Decimal     `connector:"share,number"`
	Day      time.Time           `connector:"day,date"`
	Seen     *time.Time          `connector:"seen,datetime"`
	Shipped  sql.NullTime        `connector:"shipped,date"`
	Note     sql.NullString      `json:"note,omitempty"`
	Rank     sql.Null[level]     `connector:"rank"`
	Customer string              `connector:"customer,reference,fk=crm.customers.id"`
	Code     string              `connector:"code,unique"`
	Exact    string              `connector:"exact,decimal"`
	Cents    int                 `connector:"cents,decimal"`
	Phone    uint64              `connector:"phone,string"`
	Big      uint64              `connector:"big"`
	Ratio    float64
	Small    float32
	Active   bool
	Flag     bool            `connector:"flag,string"`
	Upstream json.Number     `connector:"upstream,decimal"`
	Raw      json.RawMessage `connector:"raw"`
	Text     string          `connector:"text,json"`
	When     string          `connector:"when,datetime"`
	Tags     []string        `connector:"tags"`
	Point    [2]float64      `connector:"point"`
	Extra    map[string]any  `connector:"extra"`
	Home     address         `connector:"home"`
	Work     *address        `connector:"work"`
	Picture  []byte          `connector:"picture"`
	IP       netip.Addr      `connector:"ip"`
	Huge     *big.Int        `connector:"huge,decimal"`
	Given    wire.Value      `connector:"given,string"`
	Score    int             `connector:"score,omitzero"`
	Secret   string          `json:"-"`
	Hidden   chan int        `connector:"-"`
	Shown    string          `json:"-" connector:"shown"`
	unseen   int
}

// TestStruct checks every type that a field may have, with a value and with none.
func TestStruct(t *testing.T) {
	by, seen := "ada", time.Date(2024, 5, 1, 2, 0, 0, 5e6, time.FixedZone("", 7200))
	full := everything{
		Base: Base{7, seen}, audit: &audit{&by, "new"}, Total: decimal.RequireFromString("12.5"),
		Discount: decimal.NewNullDecimal(decimal.RequireFromString("0.10")), Share: decimal.RequireFromString("0.250"),
		Day: seen, Seen: &seen, Shipped: sql.NullTime{Time: seen, Valid: true}, Note: sql.NullString{String: "", Valid: true},
		Rank: sql.Null[level]{V: 3, Valid: true}, Customer: "c1", Code: "007", Exact: "1.50", Cents: -5, Phone: 49301234567,
		Big: math.MaxUint64, Ratio: 0.1, Small: 0.1, Active: true, Flag: true, Upstream: "1.5e1", Raw: json.RawMessage(`{ "a" : 1 }`),
		Text: "[1, 2]", When: "2024-05-01T02:00:00+02:00", Tags: []string{"a<b", "c"}, Point: [2]float64{1, 2.5},
		Extra: map[string]any{"b": 1, "a": nil}, Home: address{"Köln", ""}, Work: &address{"Bonn", "1"}, Picture: []byte{255, 0},
		IP: netip.MustParseAddr("::1"), Huge: new(big.Int).Lsh(big.NewInt(1), 70), Given: wire.Text("g"), Score: 9,
		Secret: "s3cr3t", Shown: "x", unseen: 1,
	}
	want := testkit.Table(t, "testdata/everything.txt", 4)
	s := testkit.Must(rowmap.Of[everything]())(t)
	row, none := s.AppendRow(nil, &full), s.AppendRow(nil, &everything{})
	table := s.Table("things")
	require.Len(t, row, len(want))
	require.Len(t, none, len(want))
	for i, w := range want {
		name, typ, value, nothing := w[0], w[1], w[2], w[3]
		assert.Equal(t, wire.Column{Name: name, Type: wire.Type(typ)}, s.Columns()[i])
		cell, err := row[i].MarshalJSON()
		assert.NoError(t, err, name)
		assert.Equal(t, value, string(cell), name)
		if cell, err = none[i].MarshalJSON(); err != nil {
			cell = []byte("invalid")
		}
		assert.Equal(t, nothing, string(cell), name)
		assert.True(t, table.Fields[i].Nullable || nothing != "null", "%s is nullable", name)
	}
	assert.Equal(t, "things", table.Name)
	assert.Equal(t, "One of everything", table.SourceDescription)
	assert.Equal(t, "In euros", table.Field("total").SourceDescription)
	assert.True(t, table.StoresRows)
	assert.Equal(t, []string{"id"}, table.PrimaryKey)
	assert.True(t, table.Field("id").Unique && table.Field("code").Unique && !table.Field("total").Unique)
	assert.Equal(t, []wire.ForeignKey{{Field: "customer", TargetTable: "crm.customers", TargetField: "id"}}, table.ForeignKeys)
	table.Fields[0].Name, table.PrimaryKey[0] = "changed", "changed"
	assert.Equal(t, "id", s.Table("again").PrimaryKey[0], "a table is the caller's own")
	assert.Equal(t, "id", s.Columns()[0].Name)
}

type loop struct {
	*loop
	A int
}

type faulty struct {
	A   chan int
	B   complex128 `connector:"b"`
	C   time.Time
	D   string  `connector:"d,boolean"`
	E   int     `connector:"e,scale=2"`
	F   string  `connector:"f,date,width=3"`
	G   int     `connector:"b"`
	H   *int    `connector:"h,pk"`
	I   int     `connector:"i,primary,number,string"`
	J   float64 `connector:"j,decimal,scale=x"`
	K   any
	L   map[float64]int
	M   []struct{ Deep func() }
	N   wire.Value
	o   int       `connector:"o"`
	P   int       `connector:"p,fk=customers"`
	Q   time.Time `connector:"q,datetime,width=4"`
	In  struct{ X int }
	Ok  string
	Emb struct{ Base } `connector:"emb,string"`
}

// TestStructFaults checks that all faults of a type are reported at once, with the paths of their fields.
func TestStructFaults(t *testing.T) {
	_, err := rowmap.Of[*faulty]()
	require.Error(t, err)
	_, _ = faulty{}.o, loop{}.loop
	want := testkit.Table(t, "testdata/faulty.txt", 1)
	assert.Equal(t, slices.Concat(want...), strings.Split(err.Error(), "\n"))
	_, err = rowmap.Of[int]()
	assert.EqualError(t, err, "rowmap: int is not a struct")
	_, err = rowmap.Of[struct{ a int }]()
	assert.ErrorContains(t, err, "has no exported field")
	_, err = rowmap.Of[struct {
		a int `connector:"a"`
	}]()
	assert.EqualError(t, err, ".a: is not exported, so it cannot be read; export it or remove its tag")
	_, err = rowmap.Of[loop]()
	assert.EqualError(t, err, `loop.loop: embeds itself; give it a tag connector:"-"`)
}

// TestStructRowFaults checks that a value without an exact cell fails its row, and that the reason does not quote it.
func TestStructRowFaults(t *testing.T) {
	s := testkit.Must(rowmap.Of[everything]())(t)
	at := func(column string, v everything) wire.Value {
		i := slices.IndexFunc(s.Columns(), func(c wire.Column) bool { return c.Name == column })
		return s.AppendRow(nil, &v)[i]
	}
	assert.EqualError(t, at("total", everything{Total: decimal.RequireFromString("1.005")}).Err(),
		"a decimal is out of range, or has more digits than the scale of 2")
	assert.EqualError(t, at("rank", everything{Rank: sql.Null[level]{V: -1, Valid: true}}).Err(), "its MarshalText fails")
	assert.EqualError(t, at("extra", everything{Extra: map[string]any{"f": math.NaN()}}).Err(),
		"a nested value cannot be encoded as JSON")
	for digits, want := range map[string]string{"1": "1.00", "1.500": "1.50", "-0.1": "-0.10", "12": "12.00", "1e3": "1000.00"} {
		assert.Equal(t, want, at("total", everything{Total: decimal.RequireFromString(digits)}).String())
	}
}

// TestStructRows checks rows from an iterator, from a page, and from pointers.
func TestStructRows(t *testing.T) {
	s := testkit.Must(rowmap.Of[*Base]())(t)
	values := []*Base{{ID: 1}, {ID: 2}, nil}
	broken := errors.New("broken")
	var got []string
	seq := iter.Seq2[*Base, error](func(yield func(*Base, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
		yield(nil, broken)
	})
	for row, err := range s.Rows(seq) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, row[0].String())
	}
	assert.Equal(t, []string{"1", "2", "null", "broken"}, got)
	for range s.Rows(seq) {
		break // who reads no further is not given more rows
	}
	rows := s.Page(values)
	require.Len(t, rows, 3)
	assert.Equal(t, "2", rows[1][0].String())
	assert.Equal(t, 2, cap(rows[1]), "appending to a row does not change the next one")
}

type speedy struct {
	ID      int64   `connector:"id"`
	Name    string  `connector:"name"`
	Email   string  `connector:"email"`
	Status  string  `connector:"status"`
	Qty     int     `connector:"qty"`
	Price   float64 `connector:"price"`
	Total   decimal.Decimal
	Active  bool       `connector:"active"`
	Created time.Time  `connector:"created,datetime,width=3"`
	Shipped *time.Time `connector:"shipped,date"`
	Note    sql.NullString
}

func byHand(row []wire.Value, v *speedy) []wire.Value {
	shipped, note := wire.Null(), wire.Null()
	if v.Shipped != nil {
		shipped = wire.Date(*v.Shipped)
	}
	if v.Note.Valid {
		note = wire.Text(v.Note.String)
	}
	total, _ := rowmap.DecimalDigits(v.Total)
	return append(row, wire.Int(v.ID), wire.Text(v.Name), wire.Text(v.Email), wire.Text(v.Status), wire.Int(int64(v.Qty)),
		wire.Float(v.Price), wire.Decimal(total), wire.Bool(v.Active), wire.DatetimeWidth(v.Created, 3), shipped, note)
}

func speedyRow() *speedy {
	at := time.Date(2024, 5, 1, 2, 0, 0, 5e6, time.UTC)
	return &speedy{ID: 7, Name: "Ada", Email: "ada@example.com", Status: "open", Qty: 3, Price: 9.5,
		Total: decimal.RequireFromString("1234.50"), Active: true, Created: at,
		Shipped: &at, Note: sql.NullString{String: "left at the door", Valid: true}}
}

// TestStructAllocates checks that a row allocates what a row that is written by hand does: the text of its decimal.
func TestStructAllocates(t *testing.T) {
	s, v := testkit.Must(rowmap.Of[speedy]())(t), speedyRow()
	row := make([]wire.Value, 0, 16)
	// The race detector empties the pools that big numbers are written with.
	hand := testing.AllocsPerRun(100, func() { row = byHand(row[:0], v) })
	assert.Equal(t, hand, testing.AllocsPerRun(100, func() { row = s.AppendRow(row[:0], v) }))
	assert.Equal(t, byHand(nil, v), row)
	one := func(yield func(speedy, error) bool) {
		for range 1000 {
			if !yield(*v, nil) {
				return
			}
		}
	}
	rows := s.Rows(one)
	assert.Less(t, testing.AllocsPerRun(3, func() {
		for range rows {
			continue
		}
	}), 1000*hand+500, "nothing else is allocated for each row")
}

// BenchmarkStruct compares rows of structs with cells that are written by hand.
func BenchmarkStruct(b *testing.B) {
	v, row := speedyRow(), make([]wire.Value, 0, 16)
	b.Run("hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			row = byHand(row[:0], v)
		}
	})
	b.Run("struct", func(b *testing.B) {
		s := testkit.Must(rowmap.Of[speedy]())(b)
		b.ReportAllocs()
		for b.Loop() {
			row = s.AppendRow(row[:0], v)
		}
	})
}
