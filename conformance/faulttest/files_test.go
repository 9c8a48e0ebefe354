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
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// files is a connector over a folder of files such as a spreadsheet exports: columns
// are separated by semicolons, numbers have a comma, dates are DD.MM.YYYY, and \N is
// null. An index of each column, made once, finds the lines that a filter selects.
type files struct {
	source
	content map[string]string
	index   map[string]map[string]*index
}

// newFiles returns the connector over files that hold a set.
func newFiles(set *Set, _ string, p planted) (h http.Handler, release func()) {
	c := &files{source{set, p}, map[string]string{}, map[string]map[string]*index{}}
	for _, t := range set.Tables {
		c.content[t.Name] = export(&t)
		c.index[t.Name] = map[string]*index{}
		for i, f := range t.Fields {
			c.index[t.Name][f.Name] = c.build(t.Name, f, t.Rows, i)
		}
	}
	return handler(c, connector.Omit{}), func() {}
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

// read reads the lines of a table's file that are asked for, or all of them.
func (c *files) read(ctx context.Context, t *wire.Table, wanted []int, all bool) relation.Rows {
	return func(yield func([]wire.Value, error) bool) {
		var rows [][]wire.Value
		r := csv.NewReader(strings.NewReader(c.content[t.Name]))
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
				text := apply(c.text, record[i] != `\N` && c.is(t.Name, f.Name), record[i])
				row[i] = parse(f.Type, strings.Clone(text))
			}
			if c.line != nil && t.Name == c.Table && !c.line(number) {
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

func (c *files) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := c.Describe(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	found, filtered, exact := c.find(t, req.Where)
	served := connector.Served{Filters: exact, Sort: len(req.Sort) == 0}
	if len(req.Sort) == 1 && c.index[t.Name][req.Sort[0].Field] != nil {
		served.Sort = true
		ordered := c.ordered(t, req.Sort[0])
		if filtered {
			ordered = slices.DeleteFunc(ordered, func(row int) bool { return !slices.Contains(found, row) })
		}
		found, filtered = ordered, true
	}
	offset, limit, ok := out.Claim(served).TakeWindow()
	if !ok {
		offset, limit = 0, 0
	}
	offset, limit = c.windowed(t.Name, len(req.Sort) > 0, offset, limit)
	return out.Begin(t.Columns()).All(window(c.read(ctx, t, found, !filtered), offset, limit))
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
	return c.counted(t.Name, filtered, n), nil
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
			return nil, connector.UnknownEntity("no field %s", terms.QuoteName(column))
		}
		counted := wire.Cardinality{NonNull: int64(len(ix.cells) - len(ix.null)), Distinct: int64(len(ix.rows))}
		counted = apply(c.distinct, c.is(t.Name, column), counted)
		answer[column] = &counted
	}
	return answer, nil
}
