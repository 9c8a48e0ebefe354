// Command plant writes an overlay for go test -overlay to standard output. With
// it package sqlsource has planted bugs, each a replacement of its source text, of
// which the environment variable SQLSOURCE_BUG activates one. The tests must find
// every one. Run it in the directory of its module.
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
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
	replace, err := overlay(dir, to)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"Replace": replace}); err != nil {
		log.Fatal(err)
	}
}
