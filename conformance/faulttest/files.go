package faulttest

import (
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Files are the places where the author of a connector over files errs. A nil hook is
// right.
type Files struct {
	Describe func(t *wire.Table)
	// Text changes a cell as it is read from the file, before it is parsed.
	Text func(table, column, text string) string
	// Line drops a line of the file that is read for a query.
	Line func(table string, number, lines int) (keep bool)
	// Indexed changes a cell as the index keeps it, and reports false to leave it out.
	Indexed func(table, column string, row int, v wire.Value) (changed wire.Value, keep bool)
	// Operand changes an operand before it is looked up.
	Operand func(table string, f wire.Filter) wire.Filter
	// Can decides anew whether the index answers a filter.
	Can func(t *wire.Table, f wire.Filter, can bool) bool
	// Found changes the rows that the index finds for a filter.
	Found func(table string, f wire.Filter, rows []int) []int
	// Order changes the rows in the order of a field.
	Order  func(table string, key wire.SortKey, rows []int) []int
	Window func(table string, offset, limit int64) (newOffset, newLimit int64)
	Count  func(table string, filtered bool, right int64) int64
	// Distinct changes what the index says of a column.
	Distinct func(table, column string, right wire.Cardinality) wire.Cardinality
}

// files is a connector over a folder of files such as a spreadsheet exports: columns
// are separated by semicolons, numbers have a comma, dates are DD.MM.YYYY, and \N is
// null. An index of each column, made once, finds the lines that a filter selects.
type files struct {
	set    *Set
	text   map[string]string
	index  map[string]map[string]*index
	defect Files
}

// NewFiles returns the connector over files that hold a set.
func NewFiles(set *Set, defect Files) http.Handler {
	c := &files{set, map[string]string{}, map[string]map[string]*index{}, defect}
	for _, t := range set.Tables {
		c.text[t.Name] = export(&t)
		c.index[t.Name] = map[string]*index{}
		for i, f := range t.Fields {
			c.index[t.Name][f.Name] = c.build(t.Name, f, t.Rows, i)
		}
	}
	return handler(c, connector.Omit{})
}

// export writes a table as a file.
func export(t *memsource.Table) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = ';'
	for _, row := range t.Rows {
		line := make([]string, len(row))
		for i, v := range row {
			line[i] = local(t.Fields[i].Type, v)
		}
		w.Write(line)
	}
	w.Flush()
	return b.String()
}

// local spells a cell as the spreadsheet does.
func local(t wire.Type, v wire.Value) string {
	switch {
	case v.IsNull():
		return `\N`
	case t == wire.TypeDecimal:
		return strings.Replace(v.String(), ".", ",", 1)
	case t == wire.TypeDate:
		at, _ := filter.Instant(v)
		return at.Format("02.01.2006")
	case t == wire.TypeDatetime:
		return v.Time().Format("02.01.2006 15:04:05.000")
	case t == wire.TypeBoolean:
		return []string{"nein", "ja"}[btoi(v.IsTrue())]
	case t == wire.TypeString:
		// The reader of package csv makes \r\n in a quoted cell \n.
		return strings.ReplaceAll(v.String(), "\r", `\r`)
	}
	return v.String()
}

// parse returns the cell that is spelled as a text.
func parse(t wire.Type, text string) wire.Value {
	if text == `\N` {
		return wire.Null()
	}
	switch t {
	case wire.TypeDecimal:
		return wire.Decimal(strings.Replace(text, ",", ".", 1))
	case wire.TypeDate:
		if at, err := time.Parse("02.01.2006", text); err == nil {
			return wire.Date(at)
		}
	case wire.TypeDatetime:
		if at, err := time.Parse("02.01.2006 15:04:05.000", text); err == nil {
			return wire.DatetimeWidth(at, 3)
		}
	case wire.TypeBoolean:
		return wire.Bool(text == "ja")
	case wire.TypeNumber:
		var v wire.Value
		if wire.IsDecimal(text) && v.UnmarshalJSON([]byte(text)) == nil {
			if v.Kind() == wire.KindFloat && !strings.Contains(text, ".") {
				return wire.Decimal(text) // an integer beyond 2^53
			}
			return v
		}
	case wire.TypeJSON, wire.TypeArray:
		return wire.JSON(text)
	}
	return wire.Text(strings.ReplaceAll(text, `\r`, "\r"))
}

// lines reads the lines of a table's file that are asked for, or all of them.
func (c *files) lines(ctx context.Context, t *wire.Table, wanted []int, all bool) memsource.RowSeq {
	return func(yield func([]wire.Value, error) bool) {
		var rows [][]wire.Value
		lines := len(c.set.Table(t.Name).Rows)
		r := csv.NewReader(strings.NewReader(c.text[t.Name]))
		r.Comma, r.ReuseRecord = ';', true
		for number := 0; ; number++ {
			record, err := r.Read()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			row := make([]wire.Value, len(t.Fields))
			for i, f := range t.Fields {
				text := record[i]
				if c.defect.Text != nil {
					text = c.defect.Text(t.Name, f.Name, text)
				}
				row[i] = parse(f.Type, strings.Clone(text))
			}
			if c.defect.Line != nil && !c.defect.Line(t.Name, number, lines) {
				row = nil
			}
			rows = append(rows, row)
		}
		if all {
			wanted = nil
			for i := range rows {
				wanted = append(wanted, i)
			}
		}
		for _, at := range wanted {
			if rows[at] != nil && !yield(rows[at], nil) {
				return
			}
		}
	}
}

func (c *files) Check(context.Context, *wire.CheckRequest) error { return nil }

func (c *files) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return &wire.Discovery{Tables: described(c.set, c.defect.Describe)}, nil
}

func (c *files) Describe(_ context.Context, _ wire.Credentials, table string) (*wire.Table, error) {
	return describe(c.set, c.defect.Describe, table)
}

func (c *files) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	found, filtered, exact := c.find(t, req.Where)
	served := connector.Served{Filters: exact, Sort: len(req.Sort) == 0}
	if len(req.Sort) == 1 && c.index[t.Name][req.Sort[0].Field] != nil {
		served.Sort = true
		ordered := c.order(t, req.Sort[0])
		if filtered {
			ordered = slices.DeleteFunc(ordered, func(row int) bool { return !slices.Contains(found, row) })
		}
		found, filtered = ordered, true
	}
	offset, limit, ok := out.Claim(served).TakeWindow()
	if !ok {
		offset, limit = 0, 0
	}
	if c.defect.Window != nil {
		offset, limit = c.defect.Window(t.Name, offset, limit)
	}
	return out.Begin(t.Columns()).All(window(c.lines(ctx, t, found, !filtered), offset, limit))
}

func (c *files) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	n, err := c.Count(ctx, &wire.CountRequest{Table: req.Table})
	return &wire.Size{Rows: n, Exact: true}, err
}

// Count counts the lines that the index finds.
func (c *files) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return 0, err
	}
	found, filtered, exact := c.find(t, req.Where)
	if !exact {
		return 0, connector.ErrDecline
	}
	n := int64(len(found))
	if !filtered {
		n = int64(len(c.set.Table(t.Name).Rows))
	}
	if c.defect.Count != nil {
		n = c.defect.Count(t.Name, filtered, n)
	}
	return n, nil
}

// Cardinality counts the keys of the index.
func (c *files) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	answer := map[string]*wire.Cardinality{}
	for _, column := range req.Columns {
		ix := c.index[t.Name][column]
		if ix == nil {
			return nil, connector.UnknownEntity("no field %s", wire.QuoteName(column))
		}
		counted := wire.Cardinality{NonNull: int64(len(ix.cells) - len(ix.null)), Distinct: int64(len(ix.rows))}
		if c.defect.Distinct != nil {
			counted = c.defect.Distinct(t.Name, column, counted)
		}
		answer[column] = &counted
	}
	return answer, nil
}
