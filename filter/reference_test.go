package filter_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The reference table has twelve columns of a shop's orders. Its rows are
// generated from a seed.

var referenceColumns = []wire.Column{
	{Name: "id", Type: wire.TypeNumber},
	{Name: "uuid", Type: wire.TypeString},
	{Name: "name", Type: wire.TypeString},
	{Name: "email", Type: wire.TypeString},
	{Name: "status", Type: wire.TypeString},
	{Name: "amount", Type: wire.TypeDecimal},
	{Name: "qty", Type: wire.TypeNumber},
	{Name: "price", Type: wire.TypeNumber},
	{Name: "active", Type: wire.TypeBoolean},
	{Name: "created_at", Type: wire.TypeDatetime},
	{Name: "note", Type: wire.TypeString},
	{Name: "region", Type: wire.TypeString},
}

func referenceRows(n int) (rows [][]wire.Value) {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		var uuid [16]byte
		for k := range uuid {
			uuid[k] = byte(rng.Uint32())
		}
		first := pick("Ada", "Grace", "Linus", "Zoë", "Jürgen", "Mei")
		created := start.Add(time.Duration(rng.Int64N(365*24*3600)) * time.Second)
		note := []rune(fmt.Sprintf("%s %s, bitte \"%s\" prüfen und ablegen, danke",
			pick("Lieferung", "Rechnung", "Anfrage"), pick("heute", "morgen"), pick("dringend", "später", "urgent")))
		region := wire.Null()
		if rng.IntN(5) > 0 {
			region = wire.Text(pick("north", "south", "east", "west", "central", "overseas"))
		}
		row := []wire.Value{
			wire.Int(int64(i + 1)),
			wire.Text(fmt.Sprintf("%x-%x-%x-%x-%x", uuid[:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:])),
			wire.Text(first + " " + pick("Lovelace", "Hopper", "Torvalds", "Müller", "Wang")),
			wire.Text(fmt.Sprintf("user%d@example.com", i)),
			wire.Text(pick("open", "paid", "shipped", "returned", "cancelled")),
			wire.Decimal(strconv.Itoa(rng.IntN(100000)) + "." + fmt.Sprintf("%02d", rng.IntN(100))),
			wire.Int(int64(rng.IntN(100))),
			wire.Float(float64(rng.IntN(1000000)) / 1000),
			wire.Bool(rng.IntN(2) == 0),
			wire.Datetime(created),
			wire.Text(string(note[:min(40, len(note))])),
			region,
		}
		rows = append(rows, row)
	}
	return rows
}

// typicalFilters are realistic filters on the reference table.
var typicalFilters = []struct {
	name string
	and  []wire.Filter
	or   [][]wire.Filter
}{
	{name: "status", and: []wire.Filter{
		{Field: "status", Op: wire.OpEq, Value: wire.Text("shipped")}}},
	{name: "amount", and: []wire.Filter{
		{Field: "amount", Op: wire.OpGte, Value: wire.Text("25000.00")},
		{Field: "amount", Op: wire.OpLt, Value: wire.Text("50000.00")}}},
	{name: "region", and: []wire.Filter{
		{Field: "region", Op: wire.OpIn, Values: []wire.Value{wire.Text("north"), wire.Text("west"), wire.Text("overseas")}}}},
	{name: "note", and: []wire.Filter{
		{Field: "note", Op: wire.OpIncludes, Value: wire.Text("dringend")}}},
	{name: "created", and: []wire.Filter{
		{Field: "created_at", Op: wire.OpGte, Value: wire.Text("2024-04-01T00:00:00Z")},
		{Field: "created_at", Op: wire.OpLt, Value: wire.Text("2024-07-01T00:00:00Z")}}},
	{name: "combined",
		and: []wire.Filter{
			{Field: "active", Op: wire.OpEq, Value: wire.Bool(true)},
			{Field: "qty", Op: wire.OpGt, Value: wire.Int(10)}},
		or: [][]wire.Filter{
			{{Field: "status", Op: wire.OpIn, Values: []wire.Value{wire.Text("open"), wire.Text("paid")}},
				{Field: "amount", Op: wire.OpGt, Value: wire.Text("1000")}},
			{{Field: "region", Op: wire.OpIsNull}}}},
}
