package textfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	SidecarExtension = ".table.json"
	MaxSidecar       = 1 << 20 // bytes
)

// A Sidecar is what the host states about a table, in the file NAME.table.json beside
// NAME.csv or NAME.ndjson. A source checks it against the data: what does not hold
// becomes a discovery warning and is not declared. A nil sidecar states nothing.
type Sidecar struct {
	File         string `json:"-"`
	Description  string // of the table
	Separator    string // as in Format, and so are the next three
	Encoding     string
	DecimalComma *bool
	DateFormat   string
	Columns      map[string]SidecarColumn // by the name in the file
	PrimaryKey   []string                 // field names
	Unique       []string
	ForeignKeys  []wire.ForeignKey
}

// SidecarColumn is what the host states about a column.
type SidecarColumn struct {
	Name        string    // of the field, if it differs from the column's
	Type        wire.Type // instead of the one inferred
	Description string
	Samples     *bool // false: discovery shows no values of it
}

// Of returns the format of one file: what its sidecar states, and what is stated of the
// whole folder where that states nothing. A folder's separator does not hold for a
// .tsv file, whose extension states its own.
func (f Format) Of(file string, s *Sidecar) Format {
	if strings.EqualFold(path.Ext(file), ".tsv") {
		f.Separator = "\t"
	}
	if s == nil {
		return f
	}
	f.Separator = cmp.Or(s.Separator, f.Separator)
	f.Encoding = cmp.Or(s.Encoding, f.Encoding)
	f.DateFormat = cmp.Or(s.DateFormat, f.DateFormat)
	if s.DecimalComma != nil {
		f.DecimalComma = *s.DecimalComma
	}
	f.Types = maps.Clone(f.Types)
	for header, c := range s.Columns {
		if c.Type != "" {
			if f.Types == nil {
				f.Types = map[string]wire.Type{}
			}
			f.Types[header] = c.Type
		}
	}
	return f
}

// Column returns what is stated about a column; the zero value means nothing.
func (s *Sidecar) Column(header string) SidecarColumn {
	if s == nil {
		return SidecarColumn{}
	}
	return s.Columns[header]
}

// Rename returns the field name of each column. If two would be the same, it
// warns and the columns keep their own names.
func (s *Sidecar) Rename(headers []string, warnings *[]string) []string {
	names := slices.Clone(headers)
	seen := map[string]bool{}
	for i, header := range headers {
		if name := s.Column(header).Name; name != "" {
			names[i] = name
		}
		if seen[names[i]] {
			*warnings = append(*warnings, fmt.Sprintf("%s: columns: two columns would be named %q; no column is renamed", s.File, names[i]))
			return slices.Clone(headers)
		}
		seen[names[i]] = true
	}
	return names
}

// WarnUnknownColumns warns of statements about columns that the file lacks.
func (s *Sidecar) WarnUnknownColumns(headers []string, warnings *[]string) {
	if s == nil {
		return
	}
	for _, header := range slices.Sorted(maps.Keys(s.Columns)) {
		if !slices.Contains(headers, header) {
			*warnings = append(*warnings, fmt.Sprintf("%s: columns: the file has no column %q", s.File, header))
		}
	}
}

// ParseSidecar reads a sidecar strictly: an unknown member is an error, so that no
// statement is lost to a typing error.
func ParseSidecar(file string, content []byte) (*Sidecar, error) {
	text := strings.TrimPrefix(string(content), bom)
	r := &ruledReader{textvalue.Reader{MaxDepth: terms.MaxDepth}}
	r.Reset(text)
	r.value("", &sidecarRule)
	r.End()
	var syntax *jsontext.SyntaxError
	if errors.As(r.Err(), &syntax) {
		return nil, &Fault{file, 1 + strings.Count(text[:syntax.Offset], "\n"), syntax.Problem}
	}
	s := &Sidecar{File: file}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, &Fault{file, 0, "cannot be read"} // the rules leave nothing that could fail
	}
	s.Encoding, _ = encodingOf(s.Encoding)
	return s, nil
}

// A rule says what may stand at one place of a sidecar. encoding/json alone would take
// names in any case, null for everything and the last of two members, and name no line.
type rule struct {
	kind textvalue.Kind
	// members are the members of an object, and named lists them.
	members map[string]*rule
	named   string
	// each is for the elements of a list, and for the members of an object that has any.
	each *rule
	// check returns what is wrong with a text, with a JSON object, or with an element of
	// a list beside the elements before it.
	check func(text string, before []string) (problem string)
}

var (
	anyText   = &rule{kind: textvalue.Text}
	nameRule  = &rule{kind: textvalue.Text, check: isName}
	namesRule = &rule{kind: textvalue.Array, each: &rule{kind: textvalue.Text, check: isNewName}}

	columnRule = &rule{kind: textvalue.Object, named: "name, type, description and samples", members: map[string]*rule{
		"name":        nameRule,
		"type":        {kind: textvalue.Text, check: isType},
		"description": anyText,
		"samples":     {kind: textvalue.Bool},
	}}
	linkRule = &rule{kind: textvalue.Object, named: "field, targetTable and targetField", check: isNewLink, members: map[string]*rule{
		"field":       nameRule,
		"targetTable": nameRule,
		"targetField": nameRule,
	}}
	sidecarRule = rule{kind: textvalue.Object, named: sidecarMembers, members: map[string]*rule{
		"description":  anyText,
		"separator":    {kind: textvalue.Text, check: stated(separatorProblem)},
		"encoding":     {kind: textvalue.Text, check: stated(func(text string) string { _, problem := encodingOf(text); return problem })},
		"decimalComma": {kind: textvalue.Bool},
		"dateFormat":   {kind: textvalue.Text, check: stated(dateFormatProblem)},
		"columns":      {kind: textvalue.Object, each: columnRule},
		"primaryKey":   namesRule,
		"unique":       namesRule,
		"foreignKeys":  {kind: textvalue.Array, each: linkRule},
	}}
)

const sidecarMembers = "description, separator, encoding, decimalComma, dateFormat, columns, primaryKey, unique and foreignKeys"

// stated returns the check of a text that must not be empty.
func stated(problem func(string) string) func(string, []string) string {
	return func(text string, _ []string) string {
		if text == "" {
			return "must not be empty; leave the member out"
		}
		return problem(text)
	}
}

func isName(text string, _ []string) string {
	if strings.TrimSpace(text) == "" {
		return "must not be blank"
	}
	return ""
}

func isNewName(text string, before []string) string {
	if slices.Contains(before, text) {
		return "names a field twice"
	}
	return isName(text, nil)
}

func isType(text string, _ []string) string {
	if !terms.IsType(wire.Type(text)) {
		return noType
	}
	return ""
}

func isNewLink(text string, before []string) string {
	var link, other wire.ForeignKey
	_ = json.Unmarshal([]byte(text), &link) // its members were checked
	if link.Field == "" || link.TargetTable == "" || link.TargetField == "" {
		return "a foreign key needs field, targetTable and targetField"
	}
	for _, text := range before {
		if _ = json.Unmarshal([]byte(text), &other); other == link {
			return "the same foreign key twice"
		}
	}
	return ""
}

// ruledReader reads JSON by rules, and fails where it breaks one.
type ruledReader struct{ textvalue.Reader }

// mustBe says what a value of each kind must be.
var mustBe = map[textvalue.Kind]string{
	textvalue.Object: "must be an object", textvalue.Array: "must be an array", textvalue.Text: "must be a string",
	textvalue.Bool: "must be true or false",
}

// kinds tells the kinds of values by their first byte.
var kinds = map[byte]textvalue.Kind{
	'{': textvalue.Object, '[': textvalue.Array, '"': textvalue.Text, 't': textvalue.Bool, 'f': textvalue.Bool,
}

// value reads one value. path is that of the value, for messages. It returns the text of
// the value, or its JSON.
func (r *ruledReader) value(path string, rule *rule, before ...string) string {
	if kinds[r.Peek()] != rule.kind {
		r.Fail(path + mustBe[rule.kind])
		return ""
	}
	whole, start := r.Unread()
	text := ""
	switch rule.kind {
	case textvalue.Object:
		r.object(path, rule)
	case textvalue.Array:
		var elements []string
		r.List(1, func(int) { elements = append(elements, r.value(path, rule.each, elements...)) })
	default:
		text = r.Value(1).Text
	}
	if r.Err() != nil {
		return ""
	}
	if rule.kind == textvalue.Object {
		text = whole[start:r.Offset()]
	}
	if rule.check != nil {
		if problem := rule.check(text, before); problem != "" {
			r.Seek(start)
			r.Fail(path + problem)
		}
	}
	return text
}

// object reads the members of an object.
func (r *ruledReader) object(path string, rule *rule) {
	seen := map[string]bool{}
	r.Members(func(name string) {
		path := path + strconv.Quote(name) + ": "
		member := rule.each
		if member == nil {
			member = rule.members[name]
		}
		switch {
		case seen[name]:
			r.Fail(path + "duplicate member; write each member once")
		case member == nil:
			r.Fail(path + "no such member; there are " + rule.named)
		default:
			seen[name] = true
			r.value(path, member)
		}
	})
}
