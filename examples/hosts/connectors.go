package main

import (
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hosted is one connector of this host.
type hosted struct {
	path       string
	definition connector.Definition
	source     connector.Source
}

// connectors returns two kinds of source. On a real host they would be two
// packages; here both are tables in memory.
func connectors() ([]hosted, error) {
	peaks, err := memsource.New([]memsource.Table{{
		Table: wire.Table{
			Name:              "peaks",
			SourceDescription: "The highest summit of each continent.",
			PrimaryKey:        []string{"continent"},
			Fields: []wire.Field{
				{Name: "continent", Type: wire.TypeString, Unique: true},
				{Name: "summit", Type: wire.TypeString},
				{Name: "metres", Type: wire.TypeNumber, SourceDescription: "Height above the sea, in metres."},
			},
		},
		Rows: [][]wire.Value{
			{wire.Text("Africa"), wire.Text("Kilimanjaro"), wire.Int(5895)},
			{wire.Text("Antarctica"), wire.Text("Vinson Massif"), wire.Int(4892)},
			{wire.Text("Asia"), wire.Text("Mount Everest"), wire.Int(8849)},
			{wire.Text("Europe"), wire.Text("Elbrus"), wire.Int(5642)},
			{wire.Text("North America"), wire.Text("Denali"), wire.Int(6190)},
			{wire.Text("South America"), wire.Text("Aconcagua"), wire.Int(6961)},
		},
	}}, nil)
	if err != nil {
		return nil, err
	}
	seas, err := memsource.New([]memsource.Table{{
		Table: wire.Table{
			Name:              "oceans",
			SourceDescription: "The oceans and their deepest points.",
			PrimaryKey:        []string{"ocean"},
			Fields: []wire.Field{
				{Name: "ocean", Type: wire.TypeString, Unique: true},
				{Name: "deepest", Type: wire.TypeString},
			},
		},
		Rows: [][]wire.Value{
			{wire.Text("Pacific"), wire.Text("Challenger Deep")},
			{wire.Text("Atlantic"), wire.Text("Milwaukee Deep")},
			{wire.Text("Indian"), wire.Text("Sunda Trench")},
			{wire.Text("Southern"), wire.Text("Factorian Deep")},
			{wire.Text("Arctic"), wire.Text("Molloy Deep")},
		},
	}}, nil)
	if err != nil {
		return nil, err
	}
	return []hosted{
		{"/peaks", connector.Definition{Slug: "peaks", KeysEnforced: true}, peaks},
		{"/oceans", connector.Definition{Slug: "oceans", KeysEnforced: true}, seas},
	}, nil
}
