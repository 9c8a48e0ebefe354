package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The reference table of the speed goals: "orders", 12 columns, about 306
// bytes a row as JSON, the same rows from the same seed in every process.
//
// It stands for an upstream that delivers rows ready to be read. The texts are
// made once and each row picks some of them; the numbers are computed from its
// position. So a row costs next to nothing, and a table of any length needs no
// memory. rival.mjs makes the same rows; a test compares them byte for byte.

const (
	tableName = "orders"
	tableSeed = 20240101
	firstDay  = 1704067200 // 2024-01-01T00:00:00Z
)

var columns = reference.Columns

// order is a row as the upstream delivers it, before it becomes cells or a map.
type order struct {
	id      int64
	uuid    string
	name    string
	email   string
	status  string
	amount  string // a decimal, its scale kept
	qty     int64
	price   float64
	active  bool
	created time.Time
	note    string
	region  string // "" is null
}

//go:embed vocabulary.json
var vocabularyJSON []byte

// texts are what rows pick from. The lengths of the first four are powers of
// two, so that a row's random bits index them.
type texts struct {
	names   []string // 64
	uuids   []string // 1,024
	emails  []string // 1,024
	amounts []string // 4,096
	notes   []string // 8
	status  []string // 5
	regions []string // 5; "" is null
}

var pool = makeTexts()

// mix spreads 32 bits. It needs no more than 32-bit arithmetic, which JavaScript
// has too.
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x21f0aaad
	x ^= x >> 15
	x *= 0x735a2d97
	return x ^ x>>15
}

func makeTexts() texts {
	var v struct{ Given, Family, Status, Note, Region []string }
	if err := json.Unmarshal(vocabularyJSON, &v); err != nil {
		panic("vocabulary.json: " + err.Error())
	}
	t := texts{notes: v.Note, status: v.Status, regions: v.Region}
	for _, g := range v.Given {
		for _, f := range v.Family {
			t.names = append(t.names, g+" "+f)
		}
	}
	n := uint32(tableSeed)
	next := func() uint32 { n++; return mix(n) }
	for range 1024 {
		a, b, c, d := next(), next(), next(), next()
		t.uuids = append(t.uuids, fmt.Sprintf("%08x-%04x-4%03x-8%03x-%04x%08x", a, b>>16, b&0xfff, c>>20, c&0xffff, d))
		family := strings.ToLower(v.Family[a%uint32(len(v.Family))][:4])
		t.emails = append(t.emails, family+"."+strconv.Itoa(int(b%100000))+"@mail.example.com")
	}
	for range 4096 {
		t.amounts = append(t.amounts, fmt.Sprintf("%d.%02d", next()%100000, next()%100))
	}
	return t
}

// at sets o to row i, counted from 0.
func (o *order) at(i int) {
	base := mix(tableSeed ^ uint32(i))
	a, b, c := mix(base+1), mix(base+2), mix(base+3)
	o.id = int64(i + 1)
	o.uuid = pool.uuids[a&1023]
	o.name = pool.names[a>>10&63]
	o.email = pool.emails[a>>16&1023]
	o.note = pool.notes[a>>26&7]
	o.active = a>>30 != 0
	o.amount = pool.amounts[b&4095]
	o.qty = int64(b >> 12 % 200)
	o.status = pool.status[b>>20%5]
	o.region = pool.regions[b>>24%5]
	o.price = float64(c%10_000_000) / 100
	o.created = time.Unix(firstDay+int64(base%(500*86400)), 0).UTC()
}

// cells appends the row as the library takes it.
func (o *order) cells(dst []wire.Value) []wire.Value {
	return append(dst,
		wire.Int(o.id), wire.Text(o.uuid), wire.Text(o.name), wire.Text(o.email), wire.Text(o.status), wire.Decimal(o.amount),
		wire.Int(o.qty), wire.Float(o.price), wire.Bool(o.active), wire.Datetime(o.created), wire.Text(o.note), textOrNull(o.region))
}

func textOrNull(s string) wire.Value {
	if s == "" {
		return wire.Null()
	}
	return wire.Text(s)
}

// object returns the row as encoding/json takes it.
func (o *order) object() map[string]any {
	var region any
	if o.region != "" {
		region = o.region
	}
	return map[string]any{
		"id": o.id, "uuid": o.uuid, "name": o.name, "email": o.email, "status": o.status, "amount": o.amount,
		"qty": o.qty, "price": o.price, "active": o.active, "created_at": o.created.Format(time.RFC3339), "note": o.note, "region": region,
	}
}
