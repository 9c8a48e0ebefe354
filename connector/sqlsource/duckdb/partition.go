package duckdb

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
)

// hiveNull is how Hive and Spark write the partition of rows that have no value. DuckDB
// writes NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// A partition is a value that all rows of a file have, because a folder is named so:
// year=2025.
type partition struct {
	name   string
	text   string // without escapes
	odd    bool   // the engine reads the folder otherwise
	column int    // its place in the table
}

func (p *partition) null() bool { return p.text == hiveNull || strings.EqualFold(p.text, "NULL") }

// raw returns the value as a cell of a file.
func (p *partition) raw() textvalue.Raw {
	switch {
	case p.null():
		return textvalue.Raw{Kind: textvalue.Null}
	case p.text == "":
		return textvalue.Raw{Kind: textvalue.Text} // which alone is no null
	}
	return textvalue.Raw{Text: p.text, Kind: textvalue.Plain}
}

// partitionsOf returns the partitions that the folders of a path are, the outermost
// first. The engine does not tell capital letters of their names from small ones.
func partitionsOf(path string) []partition {
	var list []partition
	for folder := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		name, text, ok := strings.Cut(folder, "=")
		if !ok || name == "" || strings.Contains(text, "=") {
			continue // which the engine does not take for a partition either
		}
		p := partition{name: name, text: text, odd: strings.ContainsAny(name, "%\\?\n")}
		switch plain, err := url.PathUnescape(text); {
		case err == nil && utf8.ValidString(plain) && !strings.Contains(plain, "\x00"):
			p.text = plain
			p.odd = p.odd || strings.ContainsAny(plain, "\\?\n")
		default:
			p.odd = true // the engine takes away some of the escapes
		}
		list = append(list, p)
	}
	return list
}

// partitions are the columns that a table's folders are.
type partitions struct {
	columns []textColumn
	of      [][]partition // of each file
	// constant says that the engine reads some name otherwise, or has a column of the files
	// under one. It is then not asked: the values are constants of the statement.
	constant bool
}

// partitionsOfTable returns the columns that the folders of a table's files are. All
// files must have the same: one without cannot be told from one whose value is null.
func partitionsOfTable(t *folderTable) (*partitions, error) {
	p := &partitions{}
	var found []evidence
	for i, file := range t.files {
		own := partitionsOf(filepath.Dir(strings.TrimPrefix(file, t.root)))
		slices.SortStableFunc(own, func(a, b partition) int {
			return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
		})
		same := func(a, b partition) bool { return strings.EqualFold(a.name, b.name) }
		if i > 0 && !slices.EqualFunc(own, p.of[0], same) {
			return nil, fmt.Errorf("the folders of %s and %s are partitions of different columns", t.shown(t.files[0]), t.shown(file))
		}
		for j := range own {
			if i == 0 {
				found = append(found, evidence{name: own[j].name})
			}
			own[j].column = j
			p.constant = p.constant || own[j].odd || own[j].name != found[j].name
			found[j].note(own[j].raw(), textvalue.Files, "", 0)
		}
		p.of = append(p.of, own)
	}
	order := partitionsOf(filepath.Dir(strings.TrimPrefix(t.files[0], t.root)))
	for _, first := range order {
		at := slices.IndexFunc(found, func(e evidence) bool { return strings.EqualFold(e.name, first.name) })
		if slices.ContainsFunc(p.columns, func(c textColumn) bool { return strings.EqualFold(c.name, first.name) }) {
			return nil, fmt.Errorf("the folders of %s are two partitions of one column", t.shown(t.files[0]))
		}
		c := decide(found[at], "")
		if !c.engineReads(found[at]) || c.catalog == "JSON" {
			c.text("")
		}
		for i := range p.of {
			p.of[i][at].column = len(p.columns)
		}
		p.columns = append(p.columns, c)
	}
	return p, nil
}

// options returns the options of a reader that are about partitions.
func (p *partitions) options() map[string]string {
	return map[string]string{"hive_partitioning": fmt.Sprint(len(p.columns) > 0 && !p.constant)}
}

// key returns the same text for files that one SELECT can read together.
func (p *partitions) key(file int) string {
	if !p.constant {
		return ""
	}
	return fmt.Sprintf("%+v", p.of[file])
}

// selected returns the columns of a file as a statement has them.
func (p *partitions) selected(file int) (list []string) {
	for i := range p.columns {
		c := &p.columns[i]
		ref := quote(c.name)
		if p.constant {
			at := slices.IndexFunc(p.of[file], func(own partition) bool { return own.column == i })
			if ref = literal(p.of[file][at].text); p.of[file][at].null() {
				ref = literal(hiveNull)
			}
		}
		list = append(list, c.ofPartition(ref)+" AS "+quote(c.name))
	}
	return list
}

// ofPartition returns the expression of a partition's column, which the engine has as a
// text.
func (c *textColumn) ofPartition(ref string) string {
	nothing := ref + " = " + literal(hiveNull)
	if c.catalog != "VARCHAR" {
		nothing += " OR " + ref + " = ''"
	}
	if c.cast != "" {
		return "CASE WHEN " + nothing + " THEN NULL ELSE " + fmt.Sprintf(c.cast, ref) + " END"
	}
	return "CASE WHEN " + nothing + " THEN NULL ELSE " + c.selected(ref, true) + " END"
}
