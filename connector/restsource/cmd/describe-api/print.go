package main

import (
	"bytes"
	"fmt"
	"go/format"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// printer writes Go source. Text of the description is written by quote and comment only.
// It counts what it leaves open.
type printer struct {
	bytes.Buffer
	left map[string]int // fillIn, todo and guess
}

func (p *printer) line(format string, args ...any) { _, _ = fmt.Fprintf(p, format+"\n", args...) }

// quote returns a Go string literal. It has no line break, and no sign that does not show.
func quote(text string) string {
	if !strconv.CanBackquote(text) || strings.Contains(text, "`") || !strings.Contains(text, `"`) {
		return strconv.Quote(text)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return strconv.Quote(text)
		}
	}
	return "`" + text + "`"
}

// plain returns text on one line, without signs that do not show.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// maxSentence limits the runes of a description.
const maxSentence = 140

var markup = regexp.MustCompile(`<[^<>]*>|\[([^\[\]]*)\]\([^()]*\)`)

// sentence returns the first sentence of a description, without markup and its full stop.
func sentence(text string) string {
	text = markup.ReplaceAllString(text, "$1")
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	text = strings.Trim(plain(text), "#* ")
	if end := regexp.MustCompile(`[.!?]\s`).FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	text = strings.TrimRight(text, ".")
	if runes := []rune(text); len(runes) > maxSentence {
		cut := string(runes[:maxSentence])
		if space := strings.LastIndexByte(cut, ' '); space > 0 {
			cut = cut[:space]
		}
		text = cut + "..."
	}
	return text
}

// maxComment limits the runes of a comment.
const maxComment = 400

// comment writes lines of comment.
func (p *printer) comment(text string) {
	text = plain(text)
	if runes := []rune(text); len(runes) > maxComment {
		text = string(runes[:maxComment]) + "..."
	}
	line := "//"
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "+") && line == "//" {
			word = "'" + word // no build constraint
		}
		if len(line)+1+len(word) > 100 && line != "//" {
			p.line("%s", line)
			line = "//"
		}
		line += " " + word
	}
	p.line("%s", line)
}

func (p *printer) note(n note) {
	p.left[n.kind]++
	switch n.kind {
	case "guess":
		p.comment("Guess: " + n.text)
	case "todo":
		p.comment("TODO: " + n.text)
	case "plain":
		p.comment(n.text)
	}
}

func (p *printer) guess(text string) { p.note(note{"guess", text}) }

func (p *printer) notes(notes []note) {
	for _, n := range notes {
		p.note(n)
	}
}

// field writes a field with a value of the description, if there is one.
func (p *printer) field(name, value string) {
	if value != "" {
		p.line("%s: %s,", name, quote(value))
	}
}

// unknown writes a field that the description says nothing about. It does not compile.
func (p *printer) unknown(name, why string) {
	p.left["fillIn"]++
	p.line("%s: fillIn(%s),", name, quote(plain(why)))
}

func list(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	return "[]string{" + strings.Join(quoted, ", ") + "}"
}

// source returns the connector's source, and a sentence on what is left to do.
func (g *draft) source() (source []byte, summary string, err error) {
	p := &printer{left: map[string]int{}}
	p.comment(fmt.Sprintf("Command %s is a connector to %q. It was drafted from a description (OpenAPI %s), "+
		"and is yours to edit.", slug(g.title), plain(g.title), plain(g.d.OpenAPI)))
	p.line("//")
	p.comment("The compiler stops at each fillIn: the description does not say it. A TODO is left for you to decide. " +
		"A Guess was decided from names alone: compare it with the API.")
	p.line("package main\n")
	p.imports(g)
	p.definition(g)
	p.api(g)
	p.line("// tables are the endpoints that list rows.\nvar tables = []restsource.Table{")
	for _, t := range g.tables {
		p.table(t)
	}
	p.line("}")
	p.omissions(g)
	p.line("%s", mainFunc)
	source, err = format.Source(p.Bytes())
	if err != nil {
		return nil, "", fmt.Errorf("the source cannot be formatted, which is a fault of this program: %w", err)
	}
	return source, g.summary(p.left, bytes.Count(source, []byte("\n"))), nil
}

// summary returns how much the description told. left counts what it did not.
func (g *draft) summary(left map[string]int, lines int) string {
	return fmt.Sprintf("%d lists, %d tables; to decide: %d fillIn and %d TODO; to compare with the API: %d guesses; %d lines",
		len(g.tables)+len(g.omitted), len(g.tables), left["fillIn"], left["todo"], left["guess"], lines)
}

func (g *draft) converts() bool {
	return slices.ContainsFunc(g.tables, func(t *table) bool {
		return slices.ContainsFunc(t.columns, func(c column) bool { return c.convert != "" })
	})
}

const mainFunc = `
func main() {
	source, err := restsource.New(api, tables, nil)
	if err != nil {
		log.Fatal(err)
	}
	standalone.Main(definition, source, nil)
}`

// imports writes the imports that the source needs.
func (p *printer) imports(g *draft) {
	p.line("import (\n\t\"log\"")
	if len(g.header) > 0 {
		p.line("\t\"net/http\"")
	}
	if g.converts() {
		p.line("\t\"time\"")
	}
	p.line("")
	for _, path := range []string{"connector", "connector/restsource", "connector/standalone", "wire"} {
		p.line("\t\"github.com/connectorsdk/connector-sdk-go/%s\"", path)
	}
	p.line(")\n")
}

func (p *printer) definition(g *draft) {
	p.line("// definition names the connector and what each tenant enters.\nvar definition = connector.Definition{")
	p.field("Slug", slug(g.title))
	if len(g.credentials) > 0 {
		p.line("Credentials: []wire.CredentialField{")
		for _, c := range g.credentials {
			if c.note != nil {
				p.note(*c.note)
			}
			kind := "wire.CredentialText"
			if c.secret {
				kind = "wire.CredentialPassword"
			}
			p.line("{Key: %s, Label: %s, Type: %s%s},", quote(c.key), quote(c.label), kind, optional("Help", c.help))
		}
		p.line("},")
	}
	p.line("}\n")
}

func optional(name, value string) string {
	if value == "" {
		return ""
	}
	return ", " + name + ": " + quote(value)
}

func (p *printer) api(g *draft) {
	p.line("// api says how the API is reached.\nvar api = restsource.API{")
	p.notes(g.baseNotes)
	if g.baseUnknown != "" {
		p.unknown("Base", g.baseUnknown)
	}
	p.field("Base", g.base)
	p.notes(g.auth.notes)
	switch {
	case g.auth.unknown != "":
		p.unknown("Authorize", g.auth.unknown)
	case g.auth.expr != "":
		p.line("Authorize: %s,", g.auth.expr)
	}
	if g.check != "" {
		p.guess("this endpoint refuses wrong credentials.")
		p.field("Check", g.check)
	} else {
		p.note(note{"todo", "enter as Check a cheap endpoint that refuses wrong credentials. " +
			"Without it, the first page of the first table is asked."})
	}
	if len(g.header) > 0 {
		p.line("Header: http.Header{")
		for i := 0; i < len(g.header); i += 2 {
			if g.header[i+1] == "" {
				p.unknown(quote(g.header[i]), "the API requires this header")
				continue
			}
			p.line("%s: {%s},", quote(g.header[i]), quote(g.header[i+1]))
		}
		p.line("},")
	}
	p.line("}\n")
}

func (p *printer) table(t *table) {
	p.line("{")
	p.field("Name", t.name)
	p.field("Description", t.description)
	p.notes(t.notes)
	if t.pathUnknown != "" {
		p.unknown("Path", t.pathUnknown)
	}
	p.field("Path", t.path)
	if t.parent != nil {
		p.field("Parent", t.parent.name)
	}
	p.fixed(&t.query)
	if len(t.listing.several) > 0 {
		p.unknown("Rows", "which list has the rows: "+strings.Join(t.listing.several, " or ")+"? Columns, Key and Pages follow from it")
		p.line("},")
		return
	}
	p.field("Rows", memberPath(t.listing.names...))
	p.note(t.keyNote)
	if len(t.key) > 0 {
		p.line("Key: %s,", list(t.key))
	}
	p.pages(&t.pages)
	p.columns(t)
	p.foreign(t.foreign)
	p.filters(&t.query)
	p.line("},")
}

// fixed writes the parameters that every request has.
func (p *printer) fixed(q *query) {
	p.notes(q.notes)
	switch {
	case len(q.unknown) > 0:
		p.unknown("Query", strings.Join(append(slices.Clone(q.unknown), q.fixed...), "; "))
	case len(q.fixed) > 0:
		p.field("Query", strings.Join(q.fixed, "&"))
	}
}

func (p *printer) pages(pg *pages) {
	p.notes(pg.notes)
	if pg.unknown != "" {
		p.unknown("Pages", pg.unknown)
		return
	}
	if pg.by == "" {
		return
	}
	text := "By: restsource." + pg.by + optional("Param", pg.param) + optional("Next", pg.next) +
		optional("LastRowCursor", pg.lastRow) + optional("HasMore", pg.hasMore)
	if pg.sizeParam != "" {
		text += fmt.Sprintf(", SizeParam: %s, Size: %d", quote(pg.sizeParam), pg.size)
	}
	if pg.fromZero {
		text += ", FromZero: true"
	}
	p.line("Pages: restsource.Pages{%s},", text)
	p.field("Total", pg.total)
	p.field("TotalHeader", pg.totalHeader)
}

func (p *printer) columns(t *table) {
	if len(t.columns) == 0 || !slices.ContainsFunc(t.columns, func(c column) bool { return c.ofParent == "" }) {
		p.unknown("Columns", "the description does not say what a row has; or set Sample to an answer of the endpoint")
		return
	}
	p.line("Columns: []restsource.Column{")
	for i := range t.columns {
		p.column(&t.columns[i])
	}
	p.line("},")
}

func (p *printer) column(c *column) {
	if c.guess != "" {
		p.guess(c.guess)
	}
	text := "Name: " + quote(c.name) + optional("Path", c.path) + optional("OfParent", c.ofParent)
	if c.kind != "" {
		text += ", Type: wire." + c.kind
	}
	if c.notNull {
		text += ", NotNull: true"
	}
	if c.convert != "" {
		text += ", Convert: " + c.convert
	}
	if len(text)+len(c.description) > 100 && c.description != "" {
		p.line("{\n%s,\nDescription: %s,\n},", text, quote(c.description))
		return
	}
	p.line("{%s%s},", text, optional("Description", c.description))
}

func (p *printer) foreign(keys []foreignKey) {
	if len(keys) == 0 {
		return
	}
	p.guess("columns are named after the tables that they refer to.")
	p.line("ForeignKeys: []wire.ForeignKey{")
	for _, k := range keys {
		p.line("{Field: %s, TargetTable: %s, TargetField: %s},", quote(k.field), quote(k.table), quote(k.target))
	}
	p.line("},")
}

func (p *printer) filters(q *query) {
	if len(q.filters) > 0 {
		p.guess("parameters select by the columns of the same names. Each answer is filtered again.")
		p.line("Filters: []restsource.Param{")
		for _, f := range q.filters {
			if text := f.note(); text != "" {
				p.guess(text)
			}
			text := fmt.Sprintf("Column: %s, Op: wire.%s, Name: %s%s",
				quote(f.column), f.op, quote(f.name), optional("Separator", f.separator))
			if f.unix {
				text += ", Spell: restsource.SpellUnix(time.Second)"
				if f.bound() {
					text += ", Round: time.Second"
				}
			}
			p.line("{%s, Exact: false},", text)
		}
		p.line("},")
	}
	if len(q.unused) > 0 {
		p.comment("Not used: the parameters " + strings.Join(q.unused, ", ") + ".")
	}
}

func (p *printer) omissions(g *draft) {
	if len(g.omitted) == 0 {
		return
	}
	p.line("\n// Lists of the API that are no tables:\n//")
	for _, o := range g.omitted {
		p.comment("GET " + o.path + ": " + o.reason + ".")
	}
}
