// Package corpus is the data against which the conformance program grades a
// connector in the mode fixture: small tables full of what connectors get
// wrong, and cases that say what must be answered over them.
//
// An author loads the tables into whatever his connector reads. Write puts them
// into a folder as JSON, CSV and SQL; a connector in Go may take them as they
// are:
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
// The tables are the files in data, digits as they stand, and two that a
// formula makes: [Many] and [Wide]. The table [ManifestTable] has one row, which
// names the corpus, its version and the digest of everything else, so that a
// judge can tell a missing corpus, or another version, from wrong answers.
//
// Whatever changes a row changes the digest, and a digest belongs to one
// version for ever (testdata/digests.txt). Every trap that the data hold is
// listed in a test, which fails when its rows are gone.
//
// # The cases
//
// Each [Case] is a request and its answer, with the rule of the protocol it
// stands for. The answers are those of package oracle, and of a person where a
// case says so (byHand); no code of the SDK's own evaluation had a part in
// them.
//
// Instants are compared only where all their legal spellings agree, JSON only
// where blanks cannot matter, and decimals as text only where their scale
// cannot: a case never fails a connector for a choice that the protocol leaves.
package corpus
