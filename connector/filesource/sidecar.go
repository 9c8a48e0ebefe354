package filesource

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	sidecarExtension = ".table.json"
	maxSidecar       = 1 << 20 // bytes
)

// A sidecar is what the host states about a table, in the file NAME.table.json
// beside NAME.csv or NAME.ndjson. The source checks it against the data: what
// does not hold becomes a discovery warning and is not declared. A nil sidecar
// states nothing.
type sidecar struct {
	file        string
	Description string                   // of the table
	Columns     map[string]sidecarColumn // by the name in the file
	PrimaryKey  []string                 // field names
	Unique      []string
	ForeignKeys []wire.ForeignKey
}

// sidecarColumn is what the host states about a column.
type sidecarColumn struct {
	Name        string    // of the field, if it differs from the column's
	Type        wire.Type // instead of the one inferred
	Description string
	NoSamples   bool // discovery shows no values of it: "samples": false
}

// column returns what is stated about a column; the zero value means nothing.
func (s *sidecar) column(header string) sidecarColumn {
	if s == nil {
		return sidecarColumn{}
	}
	return s.Columns[header]
}

// rename returns the field name of each column. If two would be the same, it
// warns and the columns keep their own names.
func (s *sidecar) rename(headers []string, warnings *[]string) []string {
	names := slices.Clone(headers)
	seen := map[string]bool{}
	for i, header := range headers {
		if name := s.column(header).Name; name != "" {
			names[i] = name
		}
		if seen[names[i]] {
			*warnings = append(*warnings, fmt.Sprintf("%s: columns: two columns would be named %q; no column is renamed", s.file, names[i]))
			return slices.Clone(headers)
		}
		seen[names[i]] = true
	}
	return names
}

// warnUnknownColumns warns of statements about columns that the file lacks.
func (s *sidecar) warnUnknownColumns(headers []string, warnings *[]string) {
	if s == nil {
		return
	}
	for _, header := range slices.Sorted(maps.Keys(s.Columns)) {
		if !slices.Contains(headers, header) {
			*warnings = append(*warnings, fmt.Sprintf("%s: columns: the file has no column %q", s.file, header))
		}
	}
}

// parseSidecar reads a sidecar strictly: an unknown member is an error, so that
// no statement is lost to a typing error.
func parseSidecar(file string, content []byte) (*sidecar, error) {
	s := &sidecar{file: file, Columns: map[string]sidecarColumn{}}
	content = []byte(strings.TrimPrefix(string(content), bom))
	p := &sidecarParser{scan: scan.New(content)}
	p.object(func(member string) {
		switch member {
		case "description":
			s.Description = p.string()
		case "columns":
			p.object(func(header string) { s.Columns[header] = p.column() })
		case "primaryKey":
			s.PrimaryKey = p.names()
		case "unique":
			s.Unique = p.names()
		case "foreignKeys":
			p.array(func() {
				k := p.foreignKey()
				if slices.Contains(s.ForeignKeys, k) {
					p.fail("the same foreign key twice")
				}
				s.ForeignKeys = append(s.ForeignKeys, k)
			})
		default:
			p.fail("no such member; there are description, columns, primaryKey, unique and foreignKeys")
		}
	})
	p.scan.End()
	if fault := p.fault(file, content); fault != nil {
		return nil, fault
	}
	return s, nil
}

// sidecarParser reads the JSON and remembers the path to the current value and
// the first problem. After a problem its methods do nothing.
type sidecarParser struct {
	scan    *scan.Scanner
	path    []string
	problem string
	at      int
}

// fault returns the first problem with its line; nil if there is none.
func (p *sidecarParser) fault(file string, content []byte) *fault {
	problem, at := p.problem, p.at
	var syntax *scan.SyntaxError
	if problem == "" {
		if !errors.As(p.scan.Err(), &syntax) {
			return nil
		}
		problem, at = syntax.Problem, syntax.Offset
	}
	return &fault{file, 1 + strings.Count(string(content[:at]), "\n"), problem}
}

func (p *sidecarParser) fail(problem string) {
	if p.problem == "" && p.scan.Err() == nil {
		p.problem, p.at = strings.Join(append(slices.Clone(p.path), problem), ": "), p.scan.Offset()
	}
}

func (p *sidecarParser) object(member func(name string)) {
	if p.scan.Peek() != '{' {
		p.fail("must be an object")
		return
	}
	seen := map[string]bool{}
	members(p.scan, func(name string) (problem string) {
		p.path = append(p.path, fmt.Sprintf("%q", name))
		if seen[name] {
			p.fail("duplicate member; write each member once")
		} else {
			seen[name] = true
			member(name)
		}
		p.path = p.path[:len(p.path)-1]
		return p.problem
	})
}

func (p *sidecarParser) array(element func()) {
	if p.scan.Peek() != '[' {
		p.fail("must be an array")
		return
	}
	elements(p.scan, func() (problem string) {
		element()
		return p.problem
	})
}

func (p *sidecarParser) string() string {
	if p.scan.Peek() != '"' {
		p.fail("must be a string")
		return ""
	}
	return p.scan.String()
}

// name reads a string that is not blank.
func (p *sidecarParser) name() string {
	s := p.string()
	if strings.TrimSpace(s) == "" {
		p.fail("must not be blank")
	}
	return s
}

// names reads the fields of a key.
func (p *sidecarParser) names() (list []string) {
	p.array(func() {
		name := p.name()
		if slices.Contains(list, name) {
			p.fail("names a field twice")
		}
		list = append(list, name)
	})
	return list
}

func (p *sidecarParser) column() (c sidecarColumn) {
	p.object(func(member string) {
		switch member {
		case "name":
			c.Name = p.name()
		case "type":
			if c.Type = wire.Type(p.string()); !c.Type.Known() {
				p.fail("must be string, number, decimal, boolean, date, datetime, json, array or reference")
			}
		case "description":
			c.Description = p.string()
		case "samples":
			if kind := p.scan.Peek(); kind == 't' || kind == 'f' {
				c.NoSamples = !p.scan.Scalar().IsTrue()
			} else {
				p.fail("must be true or false")
			}
		default:
			p.fail("no such member; there are name, type, description and samples")
		}
	})
	return c
}

func (p *sidecarParser) foreignKey() (k wire.ForeignKey) {
	p.object(func(member string) {
		switch member {
		case "field":
			k.Field = p.name()
		case "targetTable":
			k.TargetTable = p.name()
		case "targetField":
			k.TargetField = p.name()
		default:
			p.fail("no such member; there are field, targetTable and targetField")
		}
	})
	if k.Field == "" || k.TargetTable == "" || k.TargetField == "" {
		p.fail("a foreign key needs field, targetTable and targetField")
	}
	return k
}
