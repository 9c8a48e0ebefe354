package main

import (
	"log"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
)

var definition = connector.Definition{Slug: "planets"}

// planet is a row of the only table.
type planet struct {
	Name  string `connector:"name,pk"`
	Moons int    `connector:"moons"`
}

var planets = []planet{{"Mercury", 0}, {"Venus", 0}, {"Earth", 1}, {"Mars", 2}}

// source returns a small source. Put yours in its place.
func source() connector.Source {
	table, err := memsource.TableOf("planets", planets)
	if err != nil {
		log.Fatal(err)
	}
	served, err := memsource.New([]memsource.Table{table}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return served
}
