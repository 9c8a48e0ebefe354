package sqlsourcetest

import (
	"slices"
	"testing"
	"time"
)

// Options say how long a test is, and what it leaves out. A nil *Options and zero
// fields mean the default.
type Options struct {
	// Queries is how many requests are generated. Default: 2,000.
	Queries int
	// Seed makes the same rows and requests again. Default: another each time,
	// which the log shows.
	Seed uint64
	// Without names what [Run] leaves out because it does not fit the engine, and
	// says so in the log. Leave out what the engine cannot do, not what the flavor
	// gets wrong.
	//
	//   - "keys": primary and unique keys, and with them "changing pages"
	//   - "indexes": CREATE INDEX on the columns of the tables
	//   - "cardinality": counts of distinct values
	//   - "pages": each table read in pages
	//   - "changing pages": pages between which an UPDATE changes rows
	//   - "large joins": joins of 100,000 rows, which are inserted first
	//   - "joins", "links", "aggregates": generated requests of these kinds
	//
	// Discovery, cells and generated queries are always tested. Any other name fails
	// the test. Default: nothing is left out.
	Without []string
}

// The names that Options.Without may have.
const (
	partKeys          = "keys"
	partIndexes       = "indexes"
	partCardinality   = "cardinality"
	partPages         = "pages"
	partChangingPages = "changing pages"
	partLargeJoins    = "large joins"
	partJoins         = "joins"
	partLinks         = "links"
	partAggregates    = "aggregates"
)

var parts = []string{
	partKeys, partIndexes, partCardinality, partPages, partChangingPages, partLargeJoins, partJoins, partLinks, partAggregates,
}

// unknownPart returns the first name that is not of a part that can be left out.
func unknownPart(names []string) (string, bool) {
	i := slices.IndexFunc(names, func(name string) bool { return !slices.Contains(parts, name) })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// has reports whether a part is tested.
func (f *fixture) has(part string) bool { return !slices.Contains(f.without, part) }

// withDefaults returns the options with every field set. It fails the test if a
// part to leave out is unknown.
func (o *Options) withDefaults(t testing.TB) Options {
	t.Helper()
	var own Options
	if o != nil {
		own = *o
	}
	if name, unknown := unknownPart(own.Without); unknown {
		t.Fatalf("Options.Without names the unknown part %q; the parts are %q", name, parts)
	}
	if slices.Contains(own.Without, partKeys) {
		own.Without = append(slices.Clone(own.Without), partChangingPages)
	}
	if own.Seed == 0 {
		own.Seed = uint64(time.Now().UnixNano())
	}
	if own.Queries == 0 {
		own.Queries = 2000
	}
	return own
}
