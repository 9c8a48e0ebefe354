package project

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is what a connector's data comes from.
type Kind struct {
	Name string
	// what says in a sentence what the connector is.
	what string
	// next are the next three things to change.
	next [3]string
	// credentials are those of the demonstration, as JSON.
	credentials string
	// requires are the modules of others, with their versions.
	requires []string
	// nested is a module of this library besides its first, by its folder.
	nested string
	cgo    bool // DuckDB needs it
	data   bool // there is a folder data, which the program reads
}

// Versions of what the programs need besides the library. A test compares them with those
// that the library itself is tested with.
const (
	decimal = "github.com/shopspring/decimal v1.6.0"
	sqlite  = "modernc.org/sqlite v1.60.1"
	testify = "github.com/stretchr/testify v1.12.1"
)

// Kinds are all kinds.
var Kinds = []Kind{{
	Name: "memory",
	what: "A connector over Go structs that the program holds in memory.",
	next: [3]string{
		"1. `Order` in [main.go](main.go): the fields of your rows, with their tags, and the slug of `definition`.",
		"2. `orders` in [orders.go](orders.go): where the rows come from.",
		"3. `TestKnownRow` in [main_test.go](main_test.go): a row that you know.",
	},
	requires: []string{decimal, testify},
}, {
	Name: "rest",
	what: "A connector over a REST API. The API is a stand-in in the same process, until you name yours.",
	next: [3]string{
		"1. `api`, `definition` and `tables` in [main.go](main.go): the address, the key, and the first table.",
		"2. `standIn` in [standin.go](standin.go): what the real API answers, for the tests.",
		"3. `main` in [main.go](main.go): ask the real API instead of the stand-in.",
	},
	credentials: `{"apiKey":"demo-key"}`,
	requires:    []string{testify},
}, {
	Name: "graphql",
	what: "A connector over a GraphQL API. The API is a stand-in in the same process, until you name yours.",
	next: [3]string{
		"1. `api`, `definition` and `tables` in [main.go](main.go): the address, the token, and the first query.",
		"2. `standIn` in [standin.go](standin.go): what the real API answers, for the tests.",
		"3. `main` in [main.go](main.go): ask the real API instead of the stand-in.",
	},
	credentials: `{"accessToken":"demo-token"}`,
	requires:    []string{testify},
}, {
	Name: "sql",
	what: "A connector over a SQL database: SQLite as it comes, PostgreSQL, MySQL and MariaDB by another driver and flavor.",
	next: [3]string{
		"1. The driver, `open` and the flavor in [main.go](main.go): your database, by a user who may only read.",
		"2. `options` and `definition` in [main.go](main.go): the schemas to serve, and the slug.",
		"3. [schema.sql](schema.sql) and `TestKnownRow` in [main_test.go](main_test.go): tables like yours, and a row that you know.",
	},
	requires: []string{testify, sqlite},
}, {
	Name: "files",
	what: "A connector over a folder of CSV and NDJSON files, a sub-folder for each tenant.",
	next: [3]string{
		"1. `data`: your files, in a folder for each tenant, and a file `.password` in each.",
		"2. `data/*/NAME.table.json`: keys, types and descriptions, which a CSV file cannot hold.",
		"3. `definition` in [main.go](main.go), and `TestKnownRow` in [main_test.go](main_test.go): the slug, and a row that you know.",
	},
	credentials: `{"tenant":"acme"}`,
	requires:    []string{testify},
	data:        true,
}, {
	Name: "lake",
	what: "A connector over a folder of Parquet, CSV and JSON files, which DuckDB reads. It needs a C and a C++ compiler.",
	next: [3]string{
		"1. `data`: your files, in a folder for each tenant, and a file `.password` in each.",
		"2. `newSource` and `definition` in [main.go](main.go): memory, keys and descriptions, and the slug.",
		"3. `TestKnownRow` in [main_test.go](main_test.go): a row that you know.",
	},
	credentials: `{"tenant":"acme"}`,
	requires:    []string{testify},
	nested:      "connector/sqlsource/duckdb",
	cgo:         true,
	data:        true,
}}

// Names returns the names of all kinds.
func Names() string {
	var names []string
	for i := range Kinds {
		names = append(names, Kinds[i].Name)
	}
	return strings.Join(names, ", ")
}

// KindOf returns the kind of a name.
func KindOf(name string) (*Kind, error) {
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i], nil
		}
	}
	if name == "" {
		return nil, errors.New("say what the data comes from: -kind " + strings.ReplaceAll(Names(), ", ", "|"))
	}
	return nil, fmt.Errorf("-kind: there is no kind %q; the kinds are %s", name, Names())
}
