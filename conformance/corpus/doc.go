// Package corpus is the data against which the conformance program grades a connector in the mode fixture: small tables
// full of values that connectors often get wrong, and cases with requests and their right answers.
//
// The author of a connector loads the tables into the system that the connector reads. [Write] writes them into a
// folder as JSON, CSV and SQL; a connector in Go can use them directly:
//
//	package main
//
//	import (
//		"fmt"
//
//		"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
//	)
//
//	func main() {
//		for _, t := range corpus.Tables() {
//			fmt.Printf("%-20s %5d rows: %s\n", t.Name, len(t.Rows), t.SourceDescription)
//		}
//	}
//
// # The data
//
// The files in data describe the tables and hold most of their rows. Those of many, large and lengths, and the long
// text of wide, follow from formulas. The first table, the manifest, has one row with the name of the corpus, its
// version and the digest of everything else, so that a judge can distinguish a missing corpus, or another version, from
// wrong answers.
//
// Every change of a row changes the digest, and a version always has the same digest (testdata/digests.txt). A test
// lists every trap in the data and fails if its rows are missing.
//
// # The cases
//
// Each [Case] is a request, with the rule of docs/protocol.md that it tests. They stand in files with their answers,
// but for those with long operands, which follow from formulas. The answers are those of package oracle; a person wrote
// the answers marked byHand before the oracle agreed. The library's own evaluation computed none of them.
//
// A case never fails a connector for a choice that the protocol leaves open: it compares instants only where all their
// legal spellings agree, JSON only where white space cannot matter, and decimals as text only where their scale cannot.
package corpus
