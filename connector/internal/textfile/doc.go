// Package textfile reads tables of text, CSV and NDJSON, as strictly as this library
// reads them: it says how a file is written ([Format], and a table's [Sidecar]), turns
// its text into UTF-8 ([Decode]), and reads its records ([Open]). It never guesses:
// what could be read in two ways is a [Fault], which names the file, the line and the
// cure. The sources of files share it.
package textfile
