package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// helper is a file of each package PACKAGE with bugs in the overlay. New texts call it.
// The environment variable SQLSOURCE_BUG names the bug that is active, and
// SQLSOURCE_BUGS tells tests which there are, one a line. NAMES stands for them.
const helper = `package PACKAGE

import "os"

func init() { _ = os.Setenv("SQLSOURCE_BUGS", NAMES) }

func bug[T any](name string, wrong, right T) T {
	if os.Getenv("SQLSOURCE_BUG") == name {
		return wrong
	}
	return right
}
`

// replacement is a bug: in a file, old becomes new. NAME in new stands for the
// bug's name.
type replacement struct {
	name, file, old, new string
}

var replacements = []replacement{
	{"nin drops null cells", "internal/sqltext/condition.go",
		`kept := "(" + c.Null()`,
		`kept := "(" + bug(NAME, False, c.Null())`},
	{"null members of a list are compared", "internal/sqltext/condition.go",
		`func(v wire.Value) bool { return v.IsNull() })`,
		`func(v wire.Value) bool { return bug(NAME, false, v.IsNull()) })`},
	{"values that are null on the wire match comparators", "internal/sqltext/condition.go",
		`if c.Valid == "" || c.Loose.GuardsValid {
		return condition`,
		`if bug(NAME, true, c.Valid == "" || c.Loose.GuardsValid) {
		return condition`},
	{"an operand that was cut keeps its operator", "internal/sqltext/condition.go",
		`	if o.outside != 0 {
		below :=`,
		`	o.side = bug(NAME, 0, o.side)
	if o.outside != 0 {
		below :=`},
	{"or is joined to and by OR", "internal/sqltext/builder.go",
		`	if len(groups) > 0 {`,
		`	if bug(NAME, len(groups) > 0 && len(conjuncts) > 0, false) {
		return " WHERE (" + strings.Join(conjuncts, " AND ") + ") OR " + b.anyOf(groups)
	}
	if len(groups) > 0 {`},
	{"filters of a group are joined by OR", "internal/sqltext/builder.go",
		`strings.Join(conditions(group), " AND ")`,
		`strings.Join(conditions(group), bug(NAME, " OR ", " AND "))`},
	{"nulls stand where the engine has them", "internal/request/order.go",
		`b.Flavor.Order(t.expr, t.desc, t.nullable)`,
		`b.Flavor.Order(t.expr, t.desc, bug(NAME, false, t.nullable))`},
	{"ties are broken backwards", "internal/request/order.go",
		`orderTerm{c.Index.Stored, t.desc, `,
		`orderTerm{c.Index.Stored, bug(NAME, !t.desc, t.desc), `},
	{"the offset is off by one", "internal/sqltext/builder.go",
		`offset = b.bind(w.Offset)`,
		`offset = b.bind(bug(NAME, w.Offset+1, w.Offset))`},
	{"joins are inner joins", "internal/request/joins.go",
		`clause += " LEFT JOIN "`,
		`clause += bug(NAME, " JOIN ", " LEFT JOIN ")`},
	{"count_distinct counts duplicates", "internal/request/aggregate.go",
		`"COUNT(DISTINCT "+a.take(`,
		`"COUNT("+bug(NAME, "", "DISTINCT ")+a.take(`},
	{"the group of nulls is dropped", "internal/request/aggregate.go",
		`rest += " GROUP BY "`,
		`rest += bug(NAME, " WHERE "+a.groupBy[0]+" IS NOT NULL", "") + " GROUP BY "`},
	{"startswith looks inside", "internal/sqltext/condition.go",
		`	if f.Op == wire.OpIncludes {`,
		`	if bug(NAME, true, f.Op == wire.OpIncludes) {`},
	{"orphans are counted once a value, not once a row", "internal/request/link.go",
		`(SELECT COUNT(*)" + orphans`,
		`(SELECT COUNT(" + bug(NAME, "DISTINCT "+left, "*") + ")" + orphans`},
}

// overlay writes the files of the packages below dir with all bugs planted and
// none active into the directory to, and returns go build's overlay. It fails if
// an old text is not found exactly once.
func overlay(dir, to string) (map[string]string, error) {
	planted := map[string]string{}
	var names []string
	for _, r := range replacements {
		names = append(names, r.name)
		text, read := planted[r.file]
		if !read {
			b, err := os.ReadFile(filepath.Join(dir, r.file))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if n := strings.Count(text, r.old); n != 1 {
			return nil, fmt.Errorf("bug %q: %s has its old text %d times, expected once", r.name, r.file, n)
		}
		planted[r.file] = strings.Replace(text, r.old, strings.ReplaceAll(r.new, "NAME", fmt.Sprintf("%q", r.name)), 1)
	}
	all := fmt.Sprintf("%q", strings.Join(names, "\n"))
	for _, r := range replacements {
		in := filepath.Dir(r.file)
		planted[filepath.Join(in, "planted_bugs.go")] = strings.NewReplacer("PACKAGE", filepath.Base(in), "NAMES", all).Replace(helper)
	}
	replace := map[string]string{}
	for file, text := range planted {
		path := filepath.Join(to, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
		replace[filepath.Join(dir, file)] = path
	}
	return replace, nil
}
