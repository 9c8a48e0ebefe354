package connectors

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source is what every source has to have. It hands out all rows of its tables and claims
// nothing, so that the library does the rest, and has [Items] if it has no tables. A function
// that is set answers in place of its method.
type Source struct {
	Tables     []memsource.Table
	OnCheck    func(context.Context, *wire.CheckRequest) error
	OnDiscover func(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error)
	OnQuery    func(context.Context, *connector.Query, *connector.Rows) error
}

// Check accepts all credentials.
func (s Source) Check(ctx context.Context, req *wire.CheckRequest) error {
	if s.OnCheck != nil {
		return s.OnCheck(ctx, req)
	}
	return nil
}

// Discover describes the tables.
func (s Source) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	if s.OnDiscover != nil {
		return s.OnDiscover(ctx, req)
	}
	found := &wire.Discovery{}
	for _, t := range s.tables() {
		found.Tables = append(found.Tables, described(t))
	}
	return found, nil
}

// Query sends all rows of a table.
func (s Source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if s.OnQuery != nil {
		return s.OnQuery(ctx, req, out)
	}
	t, err := s.table(req.Table)
	if err != nil {
		return err
	}
	return Rows(out.Begin(t.Columns()), t.Rows)
}

func (s Source) tables() []memsource.Table {
	if s.Tables != nil {
		return s.Tables
	}
	return []memsource.Table{Items()}
}

func (s Source) table(name string) (*memsource.Table, error) {
	for _, t := range s.tables() {
		if t.Name == name {
			return &t, nil
		}
	}
	return nil, connector.UnknownEntity("no table %q", name)
}

// described returns the description of a table, complete and shared with nobody.
func described(t memsource.Table) wire.Table {
	own := t.Table
	own.StoresRows = true
	own.Fields = append([]wire.Field(nil), t.Fields...)
	for i, f := range own.Fields {
		if f.SourceColumn == "" {
			own.Fields[i].SourceColumn = f.Name
		}
	}
	return own
}

// Rows writes rows until one fails.
func Rows(w *connector.RowWriter, rows [][]wire.Value) error {
	for _, row := range rows {
		if err := w.Row(row...); err != nil {
			return err
		}
	}
	return nil
}

// Items returns a table of three rows and four columns, the last of which is only shown.
func Items() memsource.Table {
	no := false
	return memsource.Table{
		Table: wire.Table{
			Name: "items", StoresRows: true, PrimaryKey: []string{"id"},
			Fields: []wire.Field{
				{Name: "id", SourceColumn: "id", Type: wire.TypeNumber, Unique: true},
				{Name: "name", SourceColumn: "name", Type: wire.TypeString, Nullable: true},
				{Name: "price", SourceColumn: "price", Type: wire.TypeDecimal, Nullable: true},
				{Name: "sealed", SourceColumn: "sealed", Type: wire.TypeString, Filterable: &no, Groupable: &no,
					Aggregatable: &no},
			},
		},
		Rows: [][]wire.Value{
			{wire.Int(1), wire.Text("pen"), wire.Decimal("1.50"), wire.Text("x")},
			{wire.Int(2), wire.Text("ink"), wire.Decimal("12.00"), wire.Text("x")},
			{wire.Int(3), wire.Null(), wire.Null(), wire.Text("x")},
		},
	}
}
