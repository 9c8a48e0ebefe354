// Package lines writes the lines of an answer to /query. Package connector and
// package ndjson use it; its tests are those of package ndjson.
//
// A [Layout] names the members of a row and says which cell each one holds. It
// makes a [Batch], which collects encoded rows until they are one line. A
// [Writer] writes batches and the lines around them in the protocol's order.
package lines
