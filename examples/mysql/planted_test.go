//go:build plantedbugs

package main

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
)

// TestPlanted proves that the differential test finds bugs:
//
//	go test -tags plantedbugs -run Planted .
func TestPlanted(t *testing.T) {
	sqlsourcetest.Planted(t, engine(t), sqlsourcetest.Config{Queries: 3000, Seed: 7})
}
