// Package filesource serves a folder of CSV and NDJSON files as a source: each
// sub-folder belongs to one tenant, and each file in it is a table. This is a
// working connector:
//
//	package main
//
//	import (
//		"log"
//
//		"github.com/connectorsdk/connector-sdk-go/connector"
//		"github.com/connectorsdk/connector-sdk-go/connector/filesource"
//		"github.com/connectorsdk/connector-sdk-go/connector/standalone"
//	)
//
//	func main() {
//		src, err := filesource.Open("./mydata", nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		definition := connector.Definition{Slug: "files", Credentials: filesource.Credentials()}
//		standalone.Main(definition, src, nil)
//	}
//
// A tenant's credentials are the name of its folder and, if the folder has a
// file .password, the content of that file. The table "orders" is the file
// orders.csv, orders.tsv, orders.ndjson or orders.jsonl. The source finds out the types of
// its columns by reading the whole file. A sidecar file orders.table.json may state keys,
// types and descriptions; the source checks them against the rows and declares only what
// holds. How a file is written (separator, encoding, decimal comma, dates) is stated there
// too, or for all files as a [Format]; it is never guessed.
//
// Files may change at any time. The source describes a file when it is first
// needed, and again when the file has changed; Source.Prepare does so ahead of
// the first request. Queries read their file from the start, in constant memory.
//
// Files in which something is wrong are left out. Discovery warns of them, and of files
// of other kinds, and Prepare writes the warnings to the log. A fault of the host, such as
// a disk that fails, is never taken for one of the files: the request fails.
//
// README.md describes the layout of a folder, formats, types, sidecar files, cost and
// rough edges.
package filesource
