// Package reference has the reference table of the speed goals, for tests and benchmarks of
// several packages: twelve columns of a shop's orders, about 306 bytes a row as JSON.
package reference

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Columns are the columns of the table.
var Columns = []wire.Column{
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

// Names returns the names of the columns.
func Names() (names []string) {
	for _, c := range Columns {
		names = append(names, c.Name)
	}
	return names
}

var (
	givenNames  = []string{"Amelia", "Benoît", "Chiara", "Dmitri", "Esperanza", "Frederick", "Guðrún", "Hironobu"}
	familyNames = []string{
		"Abernathy", "Bartholomew", "Christensen", "Delacroix", "Eriksson", "Fitzgerald", "González", "Hutchinson",
	}
	statuses = []string{"pending", "confirmed", "shipped", "delivered", "cancelled"}
	regions  = []string{"north-west", "south-east", "central", "", "overseas"}
	notes    = []string{
		"Leave at the reception desk, ring twice",
		"Customer asked for \"gift wrap\" in green",
		"Straße 14, 3. Etage, bitte oben klingeln",
		"Fragile: glassware, keep upright on side",
		"Deliver before noon; pay on collection 2",
	}
)

// Rows returns the first rows of the table. They are always the same.
func Rows(n int) [][]wire.Value {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(words []string) string { return words[rng.IntN(len(words))] }
	rows := make([][]wire.Value, n)
	epoch := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range rows {
		given, family := pick(givenNames), pick(familyNames)
		rows[i] = []wire.Value{
			wire.Int(int64(i + 1)),
			wire.Text(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x",
				rng.Uint32(), rng.IntN(1<<16), rng.IntN(1<<12), rng.IntN(1<<12), rng.Uint64()>>16)),
			wire.Text(given + " " + family),
			wire.Text(fmt.Sprintf("%s.%d@mail.example.com", family[:4], rng.IntN(100000))),
			wire.Text(pick(statuses)),
			wire.Decimal(fmt.Sprintf("%d.%02d", rng.IntN(100000), rng.IntN(100))),
			wire.Int(int64(rng.IntN(200))),
			wire.Float(float64(rng.IntN(1000000)) / 100),
			wire.Bool(rng.IntN(3) > 0),
			wire.Datetime(epoch.Add(time.Duration(rng.IntN(86400*500)) * time.Second)),
			wire.Text(pick(notes)),
			wire.Null(),
		}
		if region := pick(regions); region != "" {
			rows[i][11] = wire.Text(region)
		}
	}
	return rows
}
