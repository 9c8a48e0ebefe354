// Command plant writes an overlay for go test -overlay to standard output. With
// it package sqlsource has planted bugs, of which the environment variable
// SQLSOURCE_BUG activates one. Run it in the directory of its module.
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/bugs"
)

func main() {
	dir, err := filepath.Abs("..")
	if err != nil {
		log.Fatal(err)
	}
	to, err := os.MkdirTemp("", "planted")
	if err != nil {
		log.Fatal(err)
	}
	overlay, err := bugs.Overlay(dir, to)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"Replace": overlay}); err != nil {
		log.Fatal(err)
	}
}
