package main

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"
)

// note is a comment in the source. Its kind is guess, todo or plain.
type note struct{ kind, text string }

// table is a table, as the source declares it.
type table struct {
	endpoint
	listing     *listing
	name        string
	description string
	path        string // below the base, with the names of columns and credentials
	pathUnknown string
	parent      *table
	columns     []column
	key         []string
	keyNote     note
	foreign     []foreignKey
	pages       pages
	query       query
	notes       []note
	values      map[string]string // of the placeholders of the endpoint's path, the column or the credential
	children    []string          // placeholders behind the path, in other paths of the description
}

type foreignKey struct{ field, table, target string }

// omission is an endpoint that seems to list rows and is no table.
type omission struct{ path, reason string }

// draft is a connector, as far as the description tells.
type draft struct {
	d           *description
	title       string
	base        string
	baseUnknown string
	baseNotes   []note
	check       string
	header      []string // pairs
	auth        authorize
	credentials []credential
	tables      []*table
	omitted     []omission
	byPattern   map[string]*table
}

// newDraft decides everything that the source says.
func newDraft(d *description, match *regexp.Regexp) *draft {
	g := &draft{d: d, title: "the API", byPattern: map[string]*table{}}
	if d.Info != nil && d.Info.Title != "" {
		g.title = d.Info.Title
	}
	endpoints := d.endpoints(match.MatchString)
	g.collect(endpoints)
	g.order()
	var used []endpoint
	for _, t := range g.tables {
		used = append(used, t.endpoint)
	}
	g.auth = d.authorize(used)
	g.credentials = append(g.credentials, g.auth.credentials...)
	g.server()
	names := &namer{taken: map[string]bool{}}
	short := slices.Clone(g.tables) // first those with short paths, which then have short names
	slices.SortStableFunc(short, func(a, b *table) int {
		return cmp.Or(g.depth(a)-g.depth(b), len(segments(a.endpoint.path))-len(segments(b.endpoint.path)))
	})
	for _, t := range short {
		g.complete(t, names)
	}
	g.references()
	g.headers()
	g.check = checkPath(d.endpoints(func(string) bool { return true }))
	return g
}

// collect finds the endpoints that list rows.
func (g *draft) collect(endpoints []endpoint) {
	for _, e := range endpoints {
		l, reason := g.d.listing(&e)
		if l == nil && reason == "" {
			continue
		}
		switch {
		case reason != "":
		case e.op.Deprecated:
			reason = "it is deprecated"
		case e.ownServers:
			reason = "it has a server of its own; declare an API for it"
		case !strings.HasPrefix(e.path, "/") || strings.ContainsAny(e.path, "?#"):
			reason = "its path must begin with a slash, and have no query"
		case g.byPattern[pattern(e.path)] != nil:
			reason = "another endpoint has the same path"
		}
		if reason != "" {
			g.omitted = append(g.omitted, omission{e.path, reason})
			continue
		}
		t := &table{endpoint: e, listing: l, values: map[string]string{}}
		g.tables = append(g.tables, t)
		g.byPattern[pattern(e.path)] = t
	}
	for _, e := range endpoints {
		all := segments(e.path)
		if len(all) < 2 {
			continue
		}
		name, ok := isParam(all[len(all)-1])
		parent := g.byPattern[pattern("/"+strings.Join(all[:len(all)-1], "/"))]
		if ok && parent != nil {
			parent.children = append(parent.children, name)
		}
	}
}

// order puts tables behind their parents, and those without a parent to the front.
func (g *draft) order() {
	slices.SortStableFunc(g.tables, func(a, b *table) int { return g.depth(a) - g.depth(b) })
}

// depth returns the number of a table's parents and their parents.
func (g *draft) depth(t *table) int {
	n := 0
	for parent, _ := g.parentOf(t); parent != nil; parent, _ = g.parentOf(parent) {
		n++
	}
	return n
}

// parentOf returns the table whose rows have an endpoint of t each: the one of the
// longest beginning of the path that is a list, and the number of its segments.
func (g *draft) parentOf(t *table) (*table, int) {
	all := segments(t.endpoint.path)
	for i := len(all) - 1; i > 0; i-- {
		if _, ok := isParam(all[i]); !ok {
			continue
		}
		if p := g.byPattern[pattern("/"+strings.Join(all[:i], "/"))]; p != nil && p != t && len(p.listing.several) == 0 {
			return p, i
		}
	}
	return nil, 0
}

// complete sets all of a table but its foreign keys. Its parent is complete already.
func (g *draft) complete(t *table, names *namer) {
	t.columns = g.d.columns(t.listing.row)
	var inherited []string
	parent, at := g.parentOf(t)
	if parent != nil && len(parent.columns) > 0 {
		inherited = g.adopt(t, parent, at)
	}
	parentName := ""
	if t.parent != nil {
		parentName = t.parent.name
	}
	t.name = names.table(t.endpoint.path, parentName)
	t.description = sentence(cmp.Or(t.op.Summary, t.op.Description))
	g.path(t)
	own, why := key(t.columns, lastSegment(t.endpoint.path), t.children)
	keyPath := ""
	if own != nil {
		t.key = append(inherited, own.name)
		keyPath = cmp.Or(own.path, memberPath(own.name))
		t.keyNote = note{"guess", fmt.Sprintf("%s is unique among the rows of one list; %s.", own.name, why)}
	} else {
		t.keyNote = note{"todo", "no column looks like a key. Without Key, rows that move between pages are read twice, or not at all."}
	}
	t.pages = g.d.pages(&t.endpoint, t.listing, keyPath, t.parent != nil)
	t.query = g.d.query(&t.endpoint, t.columns, []string{t.pages.param, t.pages.sizeParam})
	slices.SortStableFunc(t.query.filters, compareFilters)
	if t.listing.guess != "" {
		t.notes = append(t.notes, note{"guess", t.listing.guess})
	}
}

// adopt turns t into a child of parent: the placeholder in segment at is the parent's key,
// and those before it are what they are in the parent's path. It returns the names of
// the columns that identify the parent's row.
func (g *draft) adopt(t, parent *table, at int) []string {
	all := segments(t.endpoint.path)
	name, _ := isParam(all[at])
	target := g.meant(&t.endpoint, name, parent)
	if target == "" {
		t.pathUnknown = fmt.Sprintf("%s: which column of %s is {%s}? Declare Parent, and a column with OfParent",
			t.endpoint.path, parent.name, name)
		return nil
	}
	t.parent = parent
	t.values[name] = target
	if letters(name) != letters(target) {
		t.notes = append(t.notes, note{"guess", fmt.Sprintf("{%s} is the column %s of %s.", name, target, parent.name)})
	}
	carried := []string{target}
	parentSegments := segments(parent.endpoint.path)
	for i := range min(at, len(parentSegments)) {
		mine, ok := isParam(all[i])
		theirs, _ := isParam(parentSegments[i])
		if !ok {
			continue
		}
		value := parent.values[theirs]
		for _, c := range parent.columns {
			if c.ofParent != "" && c.ofParent == value {
				t.values[mine] = c.name // the grandparent's column, as the parent carries it
				if !slices.Contains(carried, c.name) {
					carried = append([]string{c.name}, carried...)
				}
			}
		}
	}
	var own []column
	var inherited []string
	for _, from := range carried {
		c := column{name: from, ofParent: from}
		if from == target {
			c.name = singular(parent.name) + "_" + words(target)
		}
		if i := slices.IndexFunc(t.columns, func(o column) bool { return o.name == c.name }); i >= 0 {
			c.guess = "the member " + c.name + " of a row is the same value."
			t.columns = slices.Delete(t.columns, i, i+1)
		}
		own = append(own, c)
		inherited = append(inherited, c.name)
	}
	t.columns = append(own, t.columns...)
	return inherited
}

// meant returns the column of parent that a placeholder means: one of its name, or of
// its last word, as {issue_number} is the number of an issue. A placeholder that is named
// after the parent, or ends like a key, is the parent's key. None if that is of another type.
func (g *draft) meant(e *endpoint, name string, parent *table) string {
	parts := strings.Split(words(name), "_")
	end := parts[len(parts)-1]
	target := ""
	for _, wanted := range []string{letters(name), letters(end)} {
		for _, c := range parent.columns {
			if target == "" && wanted != "" && letters(c.name) == wanted && c.scalar() && c.ofParent == "" {
				target = c.name
			}
		}
	}
	noun := singular(words(lastSegment(parent.endpoint.path)))
	if n := len(parent.key); target == "" && n > 0 && (words(name) == noun || sign(end, "id", "gid", "uuid", "guid", "sid")) {
		target = parent.key[n-1]
	}
	at := slices.IndexFunc(parent.columns, func(c column) bool { return c.name == target })
	if at < 0 || strings.ContainsAny(target, "{}") {
		return ""
	}
	if p := e.param("path", name); p != nil {
		s, number := g.d.shape(p.Schema), parent.columns[at].kind == "TypeNumber"
		if s.is("string") && number || s.is("integer") && !number {
			return ""
		}
	}
	return target
}

// path sets the path of a table. A placeholder that is nothing of the parent's becomes a
// credential.
func (g *draft) path(t *table) {
	if t.pathUnknown != "" {
		return
	}
	var asked []string
	t.path = placeholder.ReplaceAllStringFunc(t.endpoint.path, func(match string) string {
		name := match[1 : len(match)-1]
		if value := t.values[name]; value != "" {
			return "{" + value + "}"
		}
		asked = append(asked, match)
		return "{" + g.credential(name, "in paths such as "+t.endpoint.path, t.parent) + "}"
	})
	if len(asked) > 0 {
		t.notes = append(t.notes, note{"guess", "each tenant enters " + strings.Join(asked, ", ") + ": no list of the API has it."})
	}
}

// credential returns the key of the credential that a placeholder stands for, and adds
// it to the form if it is new. The key is no name of a column of parent, which the
// placeholder would mean then.
func (g *draft) credential(name, where string, parent *table) string {
	key := words(name)
	if key == "" {
		key = "value"
	}
	for i := 2; g.taken(key, name, parent); i++ {
		key = fmt.Sprintf("%s_%d", words(name), i)
	}
	if !slices.ContainsFunc(g.credentials, func(c credential) bool { return c.key == key }) {
		g.credentials = append(g.credentials, credential{
			key: key, param: name, label: label(key),
			note: &note{"todo", "is this for the tenant to enter? It stands for {" + name + "} " + where + "."},
		})
	}
	return key
}

// taken reports whether a key is that of another placeholder, or the name of a column
// that the placeholder would mean.
func (g *draft) taken(key, name string, parent *table) bool {
	return slices.ContainsFunc(g.credentials, func(c credential) bool { return c.key == key && c.param != name }) ||
		parent != nil && slices.ContainsFunc(parent.columns, func(c column) bool { return c.name == key })
}

// references adds foreign keys: a column customer_id refers to a table customers.
func (g *draft) references() {
	for _, t := range g.tables {
		for i := range t.columns {
			c := &t.columns[i]
			stem, ok := strings.CutSuffix(words(c.name), "_id")
			if !ok || c.ofParent != "" || !c.scalar() || slices.Equal(t.key, []string{c.name}) {
				continue
			}
			for _, to := range g.tables {
				if singular(to.name) != singular(stem) || to == t || len(to.key) != 1 {
					continue
				}
				k := slices.IndexFunc(to.columns, func(o column) bool { return o.name == to.key[0] })
				if k >= 0 && to.columns[k].kind == c.kind {
					t.foreign = append(t.foreign, foreignKey{c.name, to.name, to.key[0]})
				}
			}
		}
	}
}

// server sets the address of the API.
func (g *draft) server() {
	if len(g.d.Servers) == 0 || g.d.Servers[0] == nil || g.d.Servers[0].URL == "" {
		g.baseUnknown = "the description names no server"
		return
	}
	server := g.d.Servers[0]
	address := placeholder.ReplaceAllStringFunc(server.URL, func(match string) string {
		name := match[1 : len(match)-1]
		v := server.Variables[name]
		if v == nil || v.Default == "" || hostLabel(server.URL, match) && len(v.Enum) == 0 && !strings.Contains(v.Default, ".") {
			return "{" + g.credential(name, "in the address of the API", nil) + "}"
		}
		g.baseNotes = append(g.baseNotes, note{"guess", fmt.Sprintf("the server's variable %s has its default.", name)})
		return v.Default
	})
	example := placeholder.ReplaceAllString(address, "x")
	u, err := url.Parse(example)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		g.baseUnknown = "the description says " + server.URL
		return
	}
	g.base = strings.TrimRight(address, "/")
	if len(g.d.Servers) > 1 {
		g.baseNotes = append(g.baseNotes, note{"guess", "the first of the servers in the description."})
	}
}

// hostLabel reports whether a placeholder is a label of the host in an address.
func hostLabel(address, match string) bool {
	_, rest, ok := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return ok && slices.Contains(strings.Split(host, "."), match)
}

// headers collects the headers that the API requires.
func (g *draft) headers() {
	seen := map[string]bool{}
	for _, t := range g.tables {
		for _, p := range t.params {
			if p.In != "header" || !p.Required || seen[strings.ToLower(p.Name)] ||
				slices.Contains([]string{"authorization", "accept", "content-type"}, strings.ToLower(p.Name)) {
				continue
			}
			seen[strings.ToLower(p.Name)] = true
			s := g.d.shape(p.Schema)
			value := ""
			if p.Schema != nil && p.Schema.Value != nil {
				value, _ = p.Schema.Value.Default.(string)
			}
			if len(s.enum) == 1 {
				value = s.enum[0]
			}
			if headerName.MatchString(p.Name) && !strings.ContainsFunc(value, unicode.IsControl) {
				g.header = append(g.header, p.Name, value)
			} else {
				g.baseNotes = append(g.baseNotes, note{"todo", "the API requires a header that no request can have: " + p.Name})
			}
		}
	}
}

// checkPath returns the path of an endpoint that usually proves the credentials.
func checkPath(endpoints []endpoint) string {
	for _, name := range []string{"whoami", "me", "@me", "user", "account", "ping"} {
		for _, e := range endpoints {
			required := slices.ContainsFunc(e.params, func(p *openapi3.Parameter) bool { return p.Required })
			open := e.op.Security != nil && len(*e.op.Security) == 0
			if strings.EqualFold(lastSegment(e.path), name) && strings.HasPrefix(e.path, "/") &&
				!strings.ContainsAny(e.path, "{}?#") && !required && !open && !e.op.Deprecated {
				return e.path
			}
		}
	}
	return ""
}

// pair returns a query of one parameter.
func pair(name, value string) string { return url.QueryEscape(name) + "=" + url.QueryEscape(value) }

// label returns a key as a person reads it.
func label(key string) string {
	runes := []rune(strings.ReplaceAll(key, "_", " "))
	return strings.ToUpper(string(runes[:1])) + string(runes[1:])
}
