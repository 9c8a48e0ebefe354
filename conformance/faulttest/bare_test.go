package faulttest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// bare is a connector that uses no part of package connector to answer: it parses,
// refuses, filters, sorts, cuts, joins and writes streams itself, and claims all of it.
type bare struct{ source }

func newBare(set *Set, _ string, p planted) (h http.Handler, release func()) {
	return &bare{source{set, p}}, func() {}
}

const bareDocument = `{"protocolVersion":1,"slug":"bare","capabilities":{"operators":["eq","neq","gt","gte","lt","lte",
"in","nin","contains","includes","startswith","isnull","notnull"],"dateBucket":true,"sort":"multi","offset":true,
"join":true,"keysEnforced":true,"limits":{"concurrency":4}},"credentialSchema":[],
"endpoints":["size","count","aggregate","cardinality","linkHitRate"]}`

func (c *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/.well-known/service/platform.json" && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, bareDocument)
		return
	}
	routes := map[string]func(body []byte) (*reply, error){
		"/check":       answer(c.checked),
		"/discovery":   answer(c.discovered),
		"/query":       answer(c.query),
		"/count":       answer(c.count),
		"/aggregate":   answer(c.aggregate),
		"/size":        answer(c.size),
		"/cardinality": answer(c.cardinality),
		"/linkHitRate": answer(c.linkHitRate),
	}
	route := routes[r.URL.Path]
	if route == nil {
		refuse(w, wire.Errorf(wire.CodeNotFound, "no such route"))
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, wire.Errorf(wire.CodeMethodNotAllowed, "use POST"))
		return
	}
	if !authorized(r) {
		refuse(w, wire.Errorf(wire.CodeUnauthorized, "wrong or missing bearer token"))
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20+1))
	if err != nil || len(body) > 8<<20 {
		refuse(w, wire.Errorf(wire.CodeBadRequest, "the body cannot be read or is larger than 8 MiB"))
		return
	}
	reply, err := route(body)
	if err != nil {
		refuse(w, err)
		return
	}
	if reply == nil {
		w.WriteHeader(http.StatusNoContent) // declined
		return
	}
	w.Header().Set("Content-Type", reply.kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Write(reply.body)
}

func authorized(r *http.Request) bool {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 || strings.Contains(r.URL.RawQuery, token) {
		return false
	}
	scheme, sent, _ := strings.Cut(headers[0], " ")
	return strings.EqualFold(scheme, "Bearer") && sent == token
}

// reply is the body of an answer.
type reply struct {
	kind string
	body []byte
}

// answer parses the body of a route before it is answered.
func answer[T any, M interface {
	*T
	wire.Request
}](handle func(M) (*reply, error)) func([]byte) (*reply, error) {
	return func(body []byte) (*reply, error) {
		var req T
		if err := wire.Decode(body, M(&req)); err != nil {
			return nil, wire.Errorf(wire.CodeBadRequest, "%s", err)
		}
		return handle(&req)
	}
}

func refuse(w http.ResponseWriter, err error) {
	deliberate, ok := err.(*wire.Error)
	if !ok {
		deliberate = wire.Errorf(wire.CodeInternal, "internal error")
	}
	body, _ := wire.EncodeAnswer(&wire.ErrorAnswer{Error: *deliberate})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(deliberate.Code.Status())
	w.Write(body)
}

func written(m wire.Answer) (*reply, error) {
	body, err := wire.EncodeAnswer(m)
	return &reply{"application/json", body}, err
}

func (c *bare) checked(*wire.CheckRequest) (*reply, error) {
	return written(&wire.CheckAnswer{OK: true})
}

func (c *bare) discovered(*wire.DiscoveryRequest) (*reply, error) {
	return written(&wire.Discovery{Tables: c.described()})
}

func (c *bare) table(name string) (*memsource.Table, error) {
	if t := c.set.Table(name); t != nil {
		return t, nil
	}
	return nil, connector.UnknownEntity("no table %s", terms.QuoteName(name))
}

// seen returns the cells of rows as some part of the connector sees them.
func (c *bare) seen(table string, columns []wire.Column, rows [][]wire.Value, see change) [][]wire.Value {
	at := slices.IndexFunc(columns, func(column wire.Column) bool { return c.is(table, column.Name) })
	if see == nil || at < 0 {
		return rows
	}
	changed := make([][]wire.Value, len(rows))
	for i, row := range rows {
		changed[i] = slices.Clone(row)
		changed[i][at] = see(row[at])
	}
	return changed
}

// matching returns the indexes of the rows that pass the filters.
func (c *bare) matching(t *memsource.Table, where wire.Where) ([]int, error) {
	columns := t.Columns()
	if _, err := filter.Compile(where, columns); err != nil {
		return nil, err // unknown fields, whatever becomes of the filters
	}
	where = apply(c.where, t.Name == c.Table, where)
	where.And = c.changed(t.Name, where.And)
	or := make([][]wire.Filter, len(where.Or))
	for i, group := range where.Or {
		or[i] = c.changed(t.Name, group)
	}
	where.Or = or
	program, err := filter.Compile(where, columns)
	if err != nil {
		return nil, err
	}
	var found []int
	for i, row := range c.seen(t.Name, columns, t.Rows, c.match) {
		ok, err := program.Match(row)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, i)
		}
	}
	return found, nil
}

func (c *bare) changed(table string, list []wire.Filter) (changed []wire.Filter) {
	for _, f := range list {
		changed = append(changed, apply(c.filter, c.is(table, f.Field), f))
	}
	return changed
}

func (c *bare) query(req *wire.QueryRequest) (*reply, error) {
	t, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	found, err := c.matching(t, req.Where)
	if err != nil {
		return nil, err
	}
	columns := t.Columns()
	keys := apply(c.sort, t.Name == c.Table, req.Sort)
	order, err := filter.CompileOrder(keys, columns, req.FieldTypes, t.PrimaryKey)
	if err != nil {
		return nil, err
	}
	for _, name := range req.Fields {
		if t.Field(name) == nil {
			return nil, connector.UnknownEntity("table %s has no field %s", t.Name, terms.QuoteName(name))
		}
	}
	if ordered := c.seen(t.Name, columns, t.Rows, c.order); len(keys) > 0 {
		slices.SortStableFunc(found, func(a, b int) int { return order.Compare(ordered[a], ordered[b]) })
	}
	rows := pick(c.seen(t.Name, columns, t.Rows, c.cell), found)
	rel := relation.Relation{Columns: columns, Rows: memsource.RowsOf(rows...)}
	if len(req.Joins) > 0 {
		if rel, rows, err = c.join(rel, req); err != nil {
			return nil, err
		}
	}
	rows = c.window(req, rows)
	if c.answer != nil && t.Name == c.Table {
		rows = c.answer(req, rows)
	}
	return stream(wire.Served{Filters: true, Sort: true, Window: true}, projected(rel.Columns, req), rows)
}

func pick(rows [][]wire.Value, indexes []int) [][]wire.Value {
	picked := make([][]wire.Value, len(indexes))
	for i, at := range indexes {
		picked[i] = rows[at]
	}
	return picked
}

func (c *bare) join(base relation.Relation, req *wire.QueryRequest) (relation.Relation, [][]wire.Value, error) {
	request := relation.JoinRequest{
		Table: req.Table, Fields: req.Fields, Joins: req.Joins, FieldTypes: req.FieldTypes,
	}
	var hops []relation.Relation
	for _, hop := range request.Joins {
		t, err := c.table(hop.ToTable)
		if err != nil {
			return base, nil, err
		}
		hops = append(hops, inMemory(t))
	}
	joined, err := measures.Join(base, request, hops, measures.Unlimited)
	if err != nil {
		return base, nil, err
	}
	var rows [][]wire.Value
	for row := range joined.Rows {
		rows = append(rows, slices.Clone(row))
	}
	hop := req.Joins[0]
	if c.joined != nil && c.is(hop.FromTable, hop.FromField) {
		rows = c.joined(hop, rows)
	}
	if c.joinedFrom != nil && hop.ToTable == c.Table && req.Table == c.Target {
		rows = c.joinedFrom(hop, rows)
	}
	return joined, rows, nil
}

func (c *bare) window(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
	total := int64(len(rows))
	offset, limit := c.windowed(req.Table, len(req.Sort) > 0, req.Offset, req.Limit)
	if limit == 0 {
		limit = total
	}
	from := min(max(offset, 0), total)
	return rows[from : from+min(max(limit, 0), total-from)]
}

// output is one member of the rows of an answer.
type output struct {
	name string
	at   int
}

func projected(columns []wire.Column, req *wire.QueryRequest) (outputs []output) {
	for at, column := range columns {
		if column.Hop > 0 || slices.Contains(req.Fields, column.Name) {
			outputs = append(outputs, output{column.Name, at})
		}
	}
	return outputs
}

// stream writes rows in batches of at most a thousand.
func stream(served wire.Served, outputs []output, rows [][]wire.Value) (*reply, error) {
	var b bytes.Buffer
	first, _ := json.Marshal(map[string]wire.Served{"served": served})
	b.Write(append(first, '\n'))
	for batch := range slices.Chunk(rows, 1000) {
		b.WriteString(`{"rows":[`)
		for i, row := range batch {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := member(&b, outputs, row); err != nil {
				return nil, err
			}
		}
		b.WriteString("]}\n")
	}
	b.WriteString(`{"end":1}` + "\n")
	return &reply{"application/x-ndjson", b.Bytes()}, nil
}

func member(b *bytes.Buffer, outputs []output, row []wire.Value) error {
	b.WriteByte('{')
	for i, out := range outputs {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(out.name)
		cell, err := row[out.at].AppendJSON(nil)
		if err != nil {
			return err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(cell)
	}
	b.WriteByte('}')
	return nil
}
