package project

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Kind is what a connector's data comes from.
type Kind struct {
	Name string
	// What says in a sentence what the connector is.
	What string
	// Next are the next three things to change.
	Next [3]string
	// Credentials are those of the demonstration, as JSON.
	Credentials string
	// Base is the address of the API in main.go, until the author has another.
	Base string
	// Requires are the modules of others, by their names in versions.
	Requires []string
	// Nested is a module of this library besides its first, by its folder.
	Nested string
	Cgo    bool // DuckDB needs it
	Data   bool // there is a folder data, which the program reads
}

// versions are the modules that the programs need besides the library, with their versions.
// A test compares them with those that the library itself is tested with.
var versions = map[string]string{
	"decimal": "github.com/shopspring/decimal v1.6.0",
	"sqlite":  "modernc.org/sqlite v1.60.1",
	"testify": "github.com/stretchr/testify v1.12.1",
}

//go:embed kinds.json
var kindsFile []byte

// Kinds are all kinds.
var Kinds = func() (all []Kind) {
	if err := json.Unmarshal(kindsFile, &all); err != nil {
		panic(err) // it is part of the program, and a test reads it
	}
	return all
}()

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
