package ndjson_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The reference table of the speed goals: 12 columns, about 306 bytes a row as
// JSON, the same rows from the same seed.

var referenceNames = []string{
	"id", "uuid", "name", "email", "status", "amount", "qty", "price", "active", "created_at", "note", "region",
}

// referenceRow is a row as an author has it, before it becomes cells or maps.
type referenceRow struct {
	id      int64
	uuid    string
	name    string
	email   string
	status  string
	amount  string
	qty     int64
	price   float64
	active  bool
	created time.Time
	note    string
	region  string // "" is null
}

var (
	givenNames  = []string{"Amelia", "Benoît", "Chiara", "Dmitri", "Esperanza", "Frederick", "Guðrún", "Hironobu"}
	familyNames = []string{"Abernathy", "Bartholomew", "Christensen", "Delacroix", "Eriksson", "Fitzgerald", "González", "Hutchinson"}
	statuses    = []string{"pending", "confirmed", "shipped", "delivered", "cancelled"}
	regions     = []string{"north-west", "south-east", "central", "", "overseas"}
	notes       = []string{
		"Leave at the reception desk, ring twice",
		"Customer asked for \"gift wrap\" in green",
		"Straße 14, 3. Etage, bitte oben klingeln",
		"Fragile: glassware, keep upright on side",
		"Deliver before noon; pay on collection 2",
	}
)

func referenceRows(n int) []referenceRow {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]referenceRow, n)
	epoch := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range rows {
		given, family := givenNames[rng.IntN(len(givenNames))], familyNames[rng.IntN(len(familyNames))]
		rows[i] = referenceRow{
			id:      int64(i + 1),
			uuid:    fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", rng.Uint32(), rng.IntN(1<<16), rng.IntN(1<<12), rng.IntN(1<<12), rng.Uint64()>>16),
			name:    given + " " + family,
			email:   fmt.Sprintf("%s.%d@mail.example.com", family[:4], rng.IntN(100000)),
			status:  statuses[rng.IntN(len(statuses))],
			amount:  fmt.Sprintf("%d.%02d", rng.IntN(100000), rng.IntN(100)),
			qty:     int64(rng.IntN(200)),
			price:   float64(rng.IntN(1000000)) / 100,
			active:  rng.IntN(3) > 0,
			created: epoch.Add(time.Duration(rng.IntN(86400*500)) * time.Second),
			note:    notes[rng.IntN(len(notes))],
			region:  regions[rng.IntN(len(regions))],
		}
	}
	return rows
}

func (r *referenceRow) cells(dst []wire.Value) []wire.Value {
	region := wire.Null()
	if r.region != "" {
		region = wire.Text(r.region)
	}
	return append(dst[:0],
		wire.Int(r.id), wire.Text(r.uuid), wire.Text(r.name), wire.Text(r.email), wire.Text(r.status),
		wire.Decimal(r.amount), wire.Int(r.qty), wire.Float(r.price), wire.Bool(r.active),
		wire.Datetime(r.created), wire.Text(r.note), region)
}

func (r *referenceRow) object() map[string]any {
	var region any
	if r.region != "" {
		region = r.region
	}
	return map[string]any{
		"id": r.id, "uuid": r.uuid, "name": r.name, "email": r.email, "status": r.status,
		"amount": r.amount, "qty": r.qty, "price": r.price, "active": r.active,
		"created_at": r.created.Format("2006-01-02T15:04:05Z"), "note": r.note, "region": region,
	}
}
