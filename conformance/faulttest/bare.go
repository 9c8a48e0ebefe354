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
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Bare are the places where the author of a connector without the library errs. A nil
// hook is right.
type Bare struct {
	Describe func(t *wire.Table)
	// Filter changes a filter before it is evaluated, or drops it.
	Filter func(table string, f wire.Filter) (changed wire.Filter, keep bool)
	Where  func(table string, w wire.Where) wire.Where
	// Match, Order and Group change a cell as filters, sorts, and groups see it.
	Match, Order, Group func(table, column string, v wire.Value) wire.Value
	Sort                func(table string, keys []wire.SortKey) []wire.SortKey
	// Window changes what of the matching rows is answered.
	Window func(req *wire.QueryRequest, offset, limit, rows int64) (newOffset, newLimit int64)
	Served func(req *wire.QueryRequest, s wire.Served) wire.Served
	// Cell changes a cell as it is written.
	Cell func(table, column string, v wire.Value) wire.Value
	// Answer changes the rows of an answer.
	Answer func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value
	Hop    func(hop *wire.JoinHop)
	Joined func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value

	Count     func(req *wire.CountRequest, right int64) int64
	Fold      func(req *wire.AggregateRequest)
	FoldWhere func(table string, w wire.Where) wire.Where
	FoldType  func(table, column string, t wire.Type) wire.Type
	Groups    func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value
	Size      func(table string, right int64) int64
	Distinct  func(table, column string, right *wire.Cardinality) *wire.Cardinality
	Measure   func(req *wire.LinkHitRateRequest)
	Unmatched func(req *wire.LinkHitRateRequest, right *wire.LinkHitRate)
}

// bare is a connector that uses no part of package connector to answer: it parses,
// refuses, filters, sorts, cuts, joins and writes streams itself, and claims all of it.
type bare struct {
	set    *Set
	defect Bare
}

// NewBare returns the connector that was written without the library.
func NewBare(set *Set, b Bare) http.Handler { return &bare{set, b} }

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
		"/check":       answer(c.check),
		"/discovery":   answer(c.discovery),
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
	if len(headers) != 1 || strings.Contains(r.URL.RawQuery, Token) {
		return false
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	return strings.EqualFold(scheme, "Bearer") && token == Token
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

func (c *bare) check(*wire.CheckRequest) (*reply, error) { return written(&wire.CheckAnswer{OK: true}) }

func (c *bare) discovery(*wire.DiscoveryRequest) (*reply, error) {
	return written(&wire.Discovery{Tables: described(c.set, c.defect.Describe)})
}

// described returns the tables of a set as a connector with a fault describes them.
func described(set *Set, describe func(*wire.Table)) (tables []wire.Table) {
	for _, t := range set.Tables {
		t.Table.Fields = slices.Clone(t.Table.Fields)
		t.Table.PrimaryKey = slices.Clone(t.Table.PrimaryKey)
		t.Table.ForeignKeys = slices.Clone(t.Table.ForeignKeys)
		if describe != nil {
			describe(&t.Table)
		}
		tables = append(tables, t.Table)
	}
	return tables
}

func (c *bare) table(name string) (*memsource.Table, error) {
	if t := c.set.Table(name); t != nil {
		return t, nil
	}
	return nil, connector.UnknownEntity("no table %s", wire.QuoteName(name))
}

// seen returns the cells of rows as some part of the connector sees them.
func seen(table string, columns []wire.Column, rows [][]wire.Value,
	see func(table, column string, v wire.Value) wire.Value,
) [][]wire.Value {
	if see == nil {
		return rows
	}
	changed := make([][]wire.Value, len(rows))
	for i, row := range rows {
		changed[i] = slices.Clone(row)
		for j, column := range columns {
			changed[i][j] = see(table, column.Name, row[j])
		}
	}
	return changed
}

// matching returns the indexes of the rows that pass the filters.
func (c *bare) matching(t *memsource.Table, where wire.Where) ([]int, error) {
	columns := t.Columns()
	if _, err := filter.Compile(where, columns); err != nil {
		return nil, err // unknown fields, whatever becomes of the filters
	}
	if c.defect.Where != nil {
		where = c.defect.Where(t.Name, where)
	}
	if c.defect.Filter != nil {
		where.And = c.changed(t.Name, where.And)
		or := make([][]wire.Filter, len(where.Or))
		for i, group := range where.Or {
			or[i] = c.changed(t.Name, group)
		}
		where.Or = or
	}
	program, err := filter.Compile(where, columns)
	if err != nil {
		return nil, err
	}
	var found []int
	for i, row := range seen(t.Name, columns, t.Rows, c.defect.Match) {
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
		if f, keep := c.defect.Filter(table, f); keep {
			changed = append(changed, f)
		}
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
	keys := req.Sort
	if c.defect.Sort != nil {
		keys = c.defect.Sort(t.Name, keys)
	}
	order, err := filter.CompileOrder(keys, columns, req.FieldTypes, t.PrimaryKey)
	if err != nil {
		return nil, err
	}
	for _, name := range req.Fields {
		if t.Field(name) == nil {
			return nil, connector.UnknownEntity("table %s has no field %s", t.Name, wire.QuoteName(name))
		}
	}
	if ordered := seen(t.Name, columns, t.Rows, c.defect.Order); len(keys) > 0 {
		slices.SortStableFunc(found, func(a, b int) int { return order.Compare(ordered[a], ordered[b]) })
	}
	rows := pick(seen(t.Name, columns, t.Rows, c.defect.Cell), found)
	relation := memsource.Relation{Columns: columns, Rows: memsource.RowsOf(rows...)}
	if len(req.Joins) > 0 {
		if relation, rows, err = c.join(relation, req); err != nil {
			return nil, err
		}
	}
	rows = c.window(req, rows)
	if c.defect.Answer != nil {
		rows = c.defect.Answer(req, rows)
	}
	served := wire.Served{Filters: true, Sort: true, Window: true}
	if c.defect.Served != nil {
		served = c.defect.Served(req, served)
	}
	return stream(served, projected(relation.Columns, req), rows)
}

func pick(rows [][]wire.Value, indexes []int) [][]wire.Value {
	picked := make([][]wire.Value, len(indexes))
	for i, at := range indexes {
		picked[i] = rows[at]
	}
	return picked
}

func (c *bare) join(base memsource.Relation, req *wire.QueryRequest) (memsource.Relation, [][]wire.Value, error) {
	request := memsource.JoinRequest{
		Table: req.Table, Fields: req.Fields, Joins: slices.Clone(req.Joins), FieldTypes: req.FieldTypes,
	}
	var hops []memsource.Relation
	for i := range request.Joins {
		t, err := c.table(request.Joins[i].ToTable)
		if err != nil {
			return base, nil, err
		}
		if c.defect.Hop != nil {
			c.defect.Hop(&request.Joins[i])
		}
		hops = append(hops, memsource.Relation{Columns: t.Columns(), Rows: memsource.RowsOf(t.Rows...)})
	}
	joined, err := memsource.Join(base, request, hops, memsource.Unlimited)
	if err != nil {
		return base, nil, err
	}
	var rows [][]wire.Value
	for row := range joined.Rows {
		rows = append(rows, slices.Clone(row))
	}
	if c.defect.Joined != nil {
		rows = c.defect.Joined(req, rows)
	}
	return joined, rows, nil
}

func (c *bare) window(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
	total := int64(len(rows))
	offset, limit := req.Offset, req.Limit
	if limit == 0 {
		limit = total
	}
	if c.defect.Window != nil {
		offset, limit = c.defect.Window(req, offset, limit, total)
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
