package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const maxSidecar = 1 << 20 // bytes

// sidecar is what the host states about a table: the file NAME.table.json
// beside NAME.csv or NAME.ndjson. What it says of the data is checked against
// the data; what does not hold is a discovery warning, and is not declared.
// A nil sidecar states nothing.
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
	Name        string    // the field's name, where it is not to be the column's
	Type        wire.Type // instead of the one inferred
	Description string
	NoSamples   bool // discovery shows no values of it: "samples": false
}

// column is what is stated about a column; the zero value where nothing is.
func (s *sidecar) column(header string) sidecarColumn {
	if s == nil {
		return sidecarColumn{}
	}
	return s.Columns[header]
}

// rename is the field name of each column. Names that clash leave the columns
// their own.
func (s *sidecar) rename(headers []string, warnings *[]string) []string {
	names := slices.Clone(headers)
	if s == nil {
		return names
	}
	for i, h := range headers {
		if name := s.Columns[h].Name; name != "" {
			names[i] = name
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			*warnings = append(*warnings, fmt.Sprintf("%s: columns: two columns would be named %q; no column is renamed", s.file, name))
			return slices.Clone(headers)
		}
		seen[name] = true
	}
	return names
}

// unknownColumns warns of statements about columns that the file has not.
func (s *sidecar) unknownColumns(headers []string, warnings *[]string) {
	if s == nil {
		return
	}
	var unknown []string
	for header := range s.Columns {
		if !slices.Contains(headers, header) {
			unknown = append(unknown, header)
		}
	}
	slices.Sort(unknown)
	for _, header := range unknown {
		*warnings = append(*warnings, fmt.Sprintf("%s: columns: the file has no column %q", s.file, header))
	}
}

// parseSidecar reads a sidecar strictly: a member it does not know is an error
// and not a statement lost.
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
					p.fail("stands twice")
				}
				s.ForeignKeys = append(s.ForeignKeys, k)
			})
		default:
			p.fail("no such member; there are description, columns, primaryKey, unique and foreignKeys")
		}
	})
	p.scan.End()
	if err := p.err(content); err != nil {
		err.file = file
		return nil, err
	}
	return s, nil
}

// sidecarParser walks the JSON and keeps the path to where it stands.
type sidecarParser struct {
	scan    *scan.Scanner
	path    []string
	problem string
	at      int
}

// err is the first thing found wrong, with its line.
func (p *sidecarParser) err(content []byte) *fault {
	problem, at := p.problem, p.at
	var syntax *scan.SyntaxError
	if problem == "" {
		if !errors.As(p.scan.Err(), &syntax) {
			return nil
		}
		problem, at = syntax.Problem, syntax.Offset
	}
	return &fault{line: 1 + strings.Count(string(content[:at]), "\n"), problem: problem}
}

func (p *sidecarParser) fail(problem string) {
	if p.problem == "" && p.scan.Err() == nil {
		p.problem, p.at = strings.Join(append(slices.Clone(p.path), problem), ": "), p.scan.Offset()
	}
}

func (p *sidecarParser) failed() bool { return p.problem != "" || p.scan.Err() != nil }

func (p *sidecarParser) object(member func(name string)) {
	if p.failed() {
		return
	}
	if p.scan.Peek() != '{' {
		p.fail("must be an object")
		return
	}
	p.scan.Skip('{')
	if p.scan.Skip('}') {
		return
	}
	seen := map[string]bool{}
	for !p.failed() {
		name := p.scan.String()
		p.path = append(p.path, fmt.Sprintf("%q", name))
		if seen[name] {
			p.fail("stands twice")
		}
		seen[name] = true
		if p.scan.Expect(':'); !p.failed() {
			member(name)
		}
		p.path = p.path[:len(p.path)-1]
		if p.failed() || !p.scan.Skip(',') {
			break
		}
	}
	if !p.failed() {
		p.scan.Expect('}')
	}
}

func (p *sidecarParser) array(element func()) {
	if p.failed() {
		return
	}
	if p.scan.Peek() != '[' {
		p.fail("must be an array")
		return
	}
	p.scan.Skip('[')
	if p.scan.Skip(']') {
		return
	}
	for !p.failed() {
		element()
		if p.failed() || !p.scan.Skip(',') {
			break
		}
	}
	if !p.failed() {
		p.scan.Expect(']')
	}
}

func (p *sidecarParser) string() string {
	if p.failed() {
		return ""
	}
	if p.scan.Peek() != '"' {
		p.fail("must be a string")
		return ""
	}
	return p.scan.String()
}

// name is a string that may not be blank.
func (p *sidecarParser) name() string {
	s := p.string()
	if strings.TrimSpace(s) == "" {
		p.fail("must not be blank")
	}
	return s
}

// names are the fields of a key.
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
			switch p.scan.Peek() {
			case 't', 'f':
				c.NoSamples = !p.scan.Scalar().IsTrue()
			default:
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
