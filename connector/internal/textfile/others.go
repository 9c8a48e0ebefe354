package textfile

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hidden reports whether a file is the system's, or a program's beside a file that it has
// open, and not the author's.
func Hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~$") }

// Shown returns the name of a file as text that is valid UTF-8.
func Shown(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return strconv.QuoteToASCII(name)
}

// The kinds of files that have a way to be served, by their extensions.
var (
	sheets = []string{".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"}
	lake   = []string{".parquet", ".json", ".gz"}
)

// NotServed returns the warnings that name files of kinds that a source does not serve,
// and say what serves them. served are the extensions that the source does serve.
func NotServed(names []string, served ...string) (warnings []string) {
	var groups [3][]string
	for _, name := range names {
		ext := strings.ToLower(path.Ext(name))
		switch {
		case slices.Contains(sheets, ext):
			groups[0] = append(groups[0], name)
		case slices.Contains(lake, ext) && !slices.Contains(served, ext):
			groups[1] = append(groups[1], name)
		default:
			groups[2] = append(groups[2], name)
		}
	}
	last := len(served) - 1
	ways := [3]string{
		"save each sheet of a spreadsheet as a file of its own, as CSV UTF-8",
		"the package connector/sqlsource/duckdb serves Parquet, JSON and compressed files",
		"what is served has the extension " + strings.Join(served[:last], ", ") + " or " + served[last],
	}
	for i, group := range groups {
		if len(group) > 0 {
			warnings = append(warnings, Listed(group)+" not served: "+ways[i])
		}
	}
	return warnings
}

// maxNamed is how many files one warning names.
const maxNamed = 8

// Listed names files, and says whether one or several are meant.
func Listed(names []string) string {
	slices.Sort(names)
	shown := make([]string, min(len(names), maxNamed))
	for i := range shown {
		shown[i] = Shown(names[i])
	}
	switch more := len(names) - len(shown); {
	case more > 0:
		return fmt.Sprintf("%s and %d more are", strings.Join(shown, ", "), more)
	case len(names) == 1:
		return shown[0] + " is"
	}
	last := len(shown) - 1
	return strings.Join(shown[:last], ", ") + " and " + shown[last] + " are"
}
