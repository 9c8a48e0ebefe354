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
	served, err := memsource.New([]memsource.Table{memsource.MustTableOf("planets", planets)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return served
}
