package docs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// figuresOf are the documents that have the figures of a folder's commands.
var figuresOf = map[string]string{
	"examples/bench":                 "examples/bench/FIGURES.md",
	"connector/sqlsource/enginetest": "connector/sqlsource/enginetest/SPEED.md",
}

// TestFigures holds the README's table "How fast" against the figures that were
// taken: it claims nothing else, and names commands that take them.
func TestFigures(t *testing.T) {
	readme, shown := readFigures(t)
	for _, fault := range figureFaults(readme, shown) {
		t.Error(fault)
	}
	for _, line := range []string{"- Date: 20", "- Processor: ", "- Go and Node: go1.", "- Command"} {
		require.Contains(t, shown["examples/bench"], "\n"+line)
	}
}

// TestFiguresAreHeld edits the documents as nobody should.
func TestFiguresAreHeld(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| encode rows to lines \\| .*'S1\\$'` \\|$")
	readme, shown := readFigures(t)
	require.Regexp(t, row, readme)
	for _, c := range testkit.Table(t, "testdata/figures.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			edited := row.ReplaceAllLiteralString(readme, fmt.Sprintf("| work | %s | %s | %s |", strings.TrimPrefix(c[0], "-"), c[1], c[2]))
			require.Contains(t, strings.Join(figureFaults(edited, shown), "\n"), c[3])
		})
	}
	t.Run("a table that is gone", func(t *testing.T) { require.NotEmpty(t, figureFaults("# README", shown)) })
}

// readFigures returns the README's section, and the documents that have figures by folder.
func readFigures(t *testing.T) (readme string, shown map[string]string) {
	t.Helper()
	_, section, found := strings.Cut(read(t, "../README.md"), "\n## How fast\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	shown = map[string]string{}
	for folder, name := range figuresOf {
		shown[folder] = read(t, "../"+name)
	}
	return section, shown
}

var (
	command = regexp.MustCompile("`(?:go (?:test|run) -C (\\S+)|\\.\\.\\.)[^`]* (?:-bench|-only) '?([^' `]+)'?[^`]*`")
	claims  = regexp.MustCompile(`\d+(?:\.\d+)?(?:x| MB| %| allocations)`)
)

// figureFaults returns what is wrong with the table in a text.
func figureFaults(text string, shown map[string]string) (faults []string) {
	rows, folder := 0, ""
	for line := range strings.Lines(text) {
		cells := cellsOf(line)
		if len(cells) != 4 || cells[0] == "Work" || strings.Trim(cells[0], "-") == "" {
			continue
		}
		rows++
		fault := func(format string, args ...any) {
			faults = append(faults, "README.md, "+cells[0]+": "+fmt.Sprintf(format, args...))
		}
		of := command.FindStringSubmatch(cells[3])
		if of == nil {
			fault("no command that takes the figure")
			continue
		}
		if of[1] != "" { // else it begins as the one above
			folder = of[1]
		}
		document, known := shown[folder]
		taken := figuresFor(document, of[2])
		claimed, rivals := claims.FindAllString(cells[2], -1), strings.Split(cells[1], " / ")
		switch {
		case !known:
			fault("no document has figures of %s; name it in figuresOf", folder)
		case len(taken) == 0:
			fault("%s has no figures of %s", figuresOf[folder], of[2])
		case strings.ContainsAny(claims.ReplaceAllString(cells[2], ""), "0123456789"):
			fault("%q has a number with no unit; write x, MB, %% or allocations behind each", cells[2])
		case len(claimed) == 0 && !strings.Contains(cells[2], "]("):
			fault("no figure")
		case len(rivals) > 1 && len(rivals) != len(claimed):
			fault("%d rivals and %d figures", len(rivals), len(claimed))
		}
		for i, c := range claimed {
			if rival := rivals[min(i, len(rivals)-1)]; !shows(taken, c, rival) {
				fault("%s has no %s against %q", figuresOf[folder], c, rival)
			}
		}
	}
	if rows == 0 {
		faults = append(faults, `README.md: "How fast" has no table`)
	}
	return faults
}

// cellsOf returns the cells of a line of a table.
func cellsOf(line string) []string {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
	if !ok {
		return nil
	}
	cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// figuresFor returns the lines of a document whose goal a pattern of -bench or -only takes, or all
// of one that has no goals and tells that it was written with the pattern.
func figuresFor(document, pattern string) (lines []string) {
	goal := regexp.MustCompile("^(?:" + strings.TrimSuffix(pattern, "$") + ")(?:/|$)")
	for line := range strings.Lines(document) {
		if cells := cellsOf(line); len(cells) > 3 && goal.MatchString(cells[0]) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 && strings.Contains(document, "-bench "+pattern) {
		return strings.Split(document, "\n")
	}
	return lines
}

// shows reports whether a line has a figure, and the rival if any line names rivals. The table of
// whole processes tells them with the work.
func shows(lines []string, figure, rival string) bool {
	number := regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(figure))
	for _, line := range lines {
		if named := cellsOf(line); number.MatchString(line) && (len(named) != 4 || named[2] == rival) {
			return true
		}
	}
	return false
}
