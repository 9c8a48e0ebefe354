package testkit

import (
	"os"
	"strings"
	"testing"
)

// Table returns the rows of a file of test cases. A line is a row, and tabs separate its
// cells. Blank lines and those that begin with # are left out. A row with another number of
// cells, or a file without rows, ends the test.
func Table(t testing.TB, file string, cells int) (rows [][]string) {
	t.Helper()
	text := Must(os.ReadFile(file))(t)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		row := strings.Split(line, "\t")
		if len(row) != cells {
			t.Fatalf("%s: %d cells instead of %d: %q", file, len(row), cells, line)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no rows", file)
	}
	return rows
}
