// Package jsontext reads and writes JSON text strictly. Packages wire and ndjson
// use it; package scan adds cells of type wire.Value.
package jsontext
