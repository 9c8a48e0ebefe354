// Package jsontext reads and writes the text of JSON strictly: packages wire
// and ndjson stand on it. Package scan adds cells of type wire.Value.
package jsontext
