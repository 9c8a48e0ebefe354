package main

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
)

// The kinds of source that S17 measures. MariaDB is measured by the benchmarks of
// connector/sqlsource/enginetest, and DuckDB, which needs a C++ compiler, by those of
// connector/sqlsource/duckdb.
var sourceKinds = []sourceKind{
	{name: "memory", store: storeNothing, source: memorySource, read: readMemory},
	{name: "CSV", store: storeFile(".csv", writeCSV), source: fileSource, read: readCSV, scan: scanCSV},
	{name: "NDJSON", store: storeFile(".ndjson", writeNDJSON), source: fileSource, read: readNDJSON, scan: countedBy(readNDJSON)},
	{name: "REST pages", store: storePages, source: restSource, read: readPages, scan: countedBy(readPages)},
	{name: "SQLite", store: storeSQLite, source: sqliteSource, read: readRows(openSQLite), scan: scanRows(openSQLite)},
	{name: "PostgreSQL", store: storePostgres, source: postgresSource, read: readRows(openPostgres), scan: scanRows(openPostgres)},
}

var readCSV, readNDJSON = readFile(eachCSV), readFile(eachNDJSON)

// orders yields the first rows of the table. The order is used again.
func orders(rows int) iter.Seq[*order] {
	return func(yield func(*order) bool) {
		var o order
		for i := range rows {
			if o.at(i); !yield(&o) {
				return
			}
		}
	}
}

// countedBy returns a scan that reads as by hand, for a parser that does all the work.
func countedBy(read func(at string, rows int) (func(each func(*record) error) error, error)) func(at string) (int, error) {
	return func(at string) (n int, err error) {
		all, err := read(at, 0)
		if err != nil {
			return 0, err
		}
		err = all(func(*record) error { n++; return nil })
		return n, err
	}
}

// Memory.

func storeNothing(context.Context, string, int) (string, func(), error) { return "", func() {}, nil }

func memorySource(_ string, rows int) (connector.Source, error) {
	t := memsource.Table{Table: definition()}
	for o := range orders(rows) {
		t.Rows = append(t.Rows, o.cells(nil))
	}
	return memsource.New([]memsource.Table{t}, nil)
}

func readMemory(_ string, rows int) (func(each func(*record) error) error, error) {
	records := make([]record, 0, rows)
	for o := range orders(rows) {
		own := *o // records point to its region
		records = append(records, own.record())
	}
	return func(each func(*record) error) error {
		for i := range records {
			if err := each(&records[i]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// Files.

// storeFile returns a store of a tenant's folder with one file, and a sidecar that
// states the types.
func storeFile(extension string, write func(w io.Writer, rows int) error) func(context.Context, string, int) (string, func(), error) {
	return func(_ context.Context, dir string, rows int) (string, func(), error) {
		base := filepath.Join(dir, tenant, tableName)
		f, err := os.Create(base + extension)
		if err != nil {
			return "", nil, err
		}
		buffered := bufio.NewWriterSize(f, 1<<20)
		err = errors.Join(write(buffered, rows), buffered.Flush(), f.Close())
		types := map[string]any{}
		for _, c := range columns {
			types[c.Name] = map[string]any{"type": c.Type}
		}
		sidecar, jsonErr := json.Marshal(map[string]any{"columns": types})
		// The source believes its description of a file two seconds after the file was written.
		past := time.Now().Add(-time.Minute)
		return f.Name(), func() {}, errors.Join(err, jsonErr, os.WriteFile(base+".table.json", sidecar, 0o644),
			os.Chtimes(f.Name(), past, past), os.Chtimes(base+".table.json", past, past))
	}
}

func fileSource(at string, _ int) (connector.Source, error) {
	return filesource.Open(filepath.Dir(filepath.Dir(at)), nil)
}

// readFile returns a read of a whole file by one of its formats.
func readFile(format func(r io.Reader, each func(*record) error) error) func(string, int) (func(func(*record) error) error, error) {
	return func(at string, _ int) (func(func(*record) error) error, error) {
		return func(each func(*record) error) error {
			f, err := os.Open(at)
			if err != nil {
				return err
			}
			defer f.Close()
			return format(bufio.NewReaderSize(f, 64<<10), each)
		}, nil
	}
}

func writeCSV(w io.Writer, rows int) error {
	out := csv.NewWriter(w)
	_ = out.Write(reference.Names())
	for o := range orders(rows) {
		_ = out.Write([]string{
			strconv.FormatInt(o.id, 10), o.uuid, o.name, o.email, o.status, o.amount, strconv.FormatInt(o.qty, 10),
			strconv.FormatFloat(o.price, 'f', -1, 64), strconv.FormatBool(o.active), o.created.Format(time.RFC3339), o.note, o.region,
		})
	}
	out.Flush()
	return out.Error()
}

func eachCSV(r io.Reader, each func(*record) error) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	if _, err := in.Read(); err != nil {
		return err
	}
	for {
		cells, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		row := record{
			UUID: cells[1], Name: cells[2], Email: cells[3], Status: cells[4], Amount: cells[5], Created: cells[9], Note: cells[10],
		}
		var errs [4]error
		row.ID, errs[0] = strconv.ParseInt(cells[0], 10, 64)
		row.Qty, errs[1] = strconv.ParseInt(cells[6], 10, 64)
		row.Price, errs[2] = strconv.ParseFloat(cells[7], 64)
		row.Active, errs[3] = strconv.ParseBool(cells[8])
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		if cells[11] != "" {
			region := cells[11]
			row.Region = &region
		}
		if err := each(&row); err != nil {
			return err
		}
	}
}

func scanCSV(at string) (n int, err error) {
	f, err := os.Open(at)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := csv.NewReader(bufio.NewReaderSize(f, 64<<10))
	in.ReuseRecord = true
	for ; ; n++ {
		if _, err := in.Read(); err == io.EOF {
			return n - 1, nil // without the header
		} else if err != nil {
			return n, err
		}
	}
}

func writeNDJSON(w io.Writer, rows int) error {
	out := newEncoder(w)
	for o := range orders(rows) {
		if err := out.Encode(o.record()); err != nil {
			return err
		}
	}
	return nil
}

func eachNDJSON(r io.Reader, each func(*record) error) error {
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return lines.Err()
		}
		var row record
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return err
		}
		if err := each(&row); err != nil {
			return err
		}
	}
}

// REST pages.

const (
	serverPages = "pages"
	pageRows    = 1000
)

// pagesHandler serves the table as an API with pages after a cursor.
func pagesHandler(rows int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("cursor"))
		size, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil || size < 1 {
			size = pageRows
		}
		size = min(size, pageRows, rows-from)
		line, err := encodedLine(from, size)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		next := "null"
		if from+size < rows {
			next = strconv.Quote(strconv.Itoa(from + size))
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(line[:len(line)-len("}\n")], `,"next":`+next+"}"...))
	})
}

func storePages(ctx context.Context, _ string, rows int) (string, func(), error) {
	s, err := start(ctx, serverPages, rows)
	if err != nil {
		return "", nil, err
	}
	return strings.TrimSuffix(s.url, "/query"), s.stop, nil
}

func restSource(at string, _ int) (connector.Source, error) {
	t := restsource.Table{
		Name: tableName, Description: "An order of a shop", Path: "/orders", Rows: "rows", Key: []string{"id"},
		Pages: restsource.Pages{By: restsource.PagingCursor, Param: "cursor", Next: "next", SizeParam: "limit", Size: pageRows},
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, restsource.Column{Name: c.Name, Type: c.Type})
	}
	return restsource.New(restsource.API{Base: at}, []restsource.Table{t}, nil)
}

func readPages(at string, _ int) (func(each func(*record) error) error, error) {
	return func(each func(*record) error) error {
		for cursor := ""; ; {
			res, err := http.Get(at + "/orders?limit=" + strconv.Itoa(pageRows) + "&cursor=" + cursor)
			if err != nil {
				return err
			}
			var page struct {
				Rows []record
				Next *string
			}
			err = json.NewDecoder(res.Body).Decode(&page)
			_ = res.Body.Close()
			if err != nil {
				return err
			}
			for i := range page.Rows {
				if err := each(&page.Rows[i]); err != nil {
					return err
				}
			}
			if page.Next == nil {
				return nil
			}
			cursor = *page.Next
		}
	}, nil
}

// Databases.

const selectAll = "SELECT id, uuid, name, email, status, amount, qty, price, active, created_at, note, region FROM orders"

// readRows returns a read by database/sql.
func readRows(open func(at string) (*sql.DB, error)) func(string, int) (func(func(*record) error) error, error) {
	return func(at string, _ int) (func(func(*record) error) error, error) {
		db, err := open(at)
		return func(each func(*record) error) error {
			rows, err := db.Query(selectAll)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var r record
				var created time.Time
				if err := rows.Scan(&r.ID, &r.UUID, &r.Name, &r.Email, &r.Status, &r.Amount, &r.Qty, &r.Price, &r.Active,
					&created, &r.Note, &r.Region); err != nil {
					return err
				}
				r.Created = created.UTC().Format(time.RFC3339)
				if err := each(&r); err != nil {
					return err
				}
			}
			return rows.Err()
		}, err
	}
}

// scanRows returns a scan of whatever the driver makes of the rows.
func scanRows(open func(at string) (*sql.DB, error)) func(at string) (int, error) {
	return func(at string) (n int, err error) {
		db, err := open(at)
		if err != nil {
			return 0, err
		}
		defer db.Close()
		rows, err := db.Query(selectAll)
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		cells := make([]any, len(columns))
		for i := range cells {
			cells[i] = new(any)
		}
		for ; rows.Next(); n++ {
			if err := rows.Scan(cells...); err != nil {
				return n, err
			}
		}
		return n, rows.Err()
	}
}

func openSQLite(at string) (*sql.DB, error) { return sql.Open("sqlite", "file:"+at) }

func storeSQLite(ctx context.Context, dir string, rows int) (string, func(), error) {
	at := filepath.Join(dir, "orders.sqlite")
	db, err := openSQLite(at)
	if err != nil {
		return "", nil, err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `CREATE TABLE orders (id INTEGER PRIMARY KEY, uuid UUID, name TEXT, email TEXT, status TEXT,
		amount DECIMAL_TEXT, qty INTEGER, price REAL, active BOOLEAN, created_at DATETIME, note TEXT, region TEXT)`); err != nil {
		return "", nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return "", nil, err
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return "", nil, err
	}
	for o := range orders(rows) {
		r := o.record()
		if _, err := insert.ExecContext(ctx, r.ID, r.UUID, r.Name, r.Email, r.Status, r.Amount, r.Qty, r.Price, r.Active, r.Created,
			r.Note, r.Region); err != nil {
			return "", nil, err
		}
	}
	return at, func() {}, tx.Commit()
}

func sqliteSource(at string, _ int) (connector.Source, error) {
	db, err := openSQLite(at)
	if err != nil {
		return nil, err
	}
	return sqlsource.New(db, sqlsource.SQLite(), nil)
}

// errNoPostgres means that PostgreSQL cannot be measured here.
var errNoPostgres = errors.New("no PostgreSQL server answers; set SQLSOURCE_POSTGRES to its host:port, and SQLSOURCE_POSTGRES_USER and " +
	"SQLSOURCE_POSTGRES_PASSWORD to a user who may create databases")

// notHere reports whether a source cannot be measured on this machine.
func notHere(err error) bool { return errors.Is(err, errNoPostgres) }

// openPostgres opens a database of the server that the tests of package sqlsource use.
func openPostgres(database string) (*sql.DB, error) {
	host, port, err := net.SplitHostPort(cmp.Or(os.Getenv("SQLSOURCE_POSTGRES"), "127.0.0.1:5432"))
	if err != nil {
		return nil, fmt.Errorf("SQLSOURCE_POSTGRES must be host:port: %w", err)
	}
	address := url.URL{
		Scheme: "postgres", Host: net.JoinHostPort(host, port), Path: "/" + database,
		User: url.UserPassword(cmp.Or(os.Getenv("SQLSOURCE_POSTGRES_USER"), "postgres"), os.Getenv("SQLSOURCE_POSTGRES_PASSWORD")),
	}
	config, err := pgx.ParseConfig(address.String())
	if err != nil {
		return nil, errors.New("SQLSOURCE_POSTGRES is no address of a server")
	}
	return stdlib.OpenDB(*config), nil
}

func storePostgres(ctx context.Context, _ string, rows int) (at string, remove func(), err error) {
	admin, err := openPostgres("postgres")
	if err != nil {
		return "", nil, err
	}
	if admin.PingContext(ctx) != nil {
		_ = admin.Close()
		return "", nil, errNoPostgres
	}
	at = fmt.Sprintf("bench_%016x", rand.Uint64())
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+at+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		_ = admin.Close()
		return "", nil, err
	}
	remove = func() {
		_, _ = admin.Exec("DROP DATABASE " + at + " WITH (FORCE)")
		_ = admin.Close()
	}
	if err := fillPostgres(ctx, at, rows); err != nil {
		remove()
		return "", nil, err
	}
	return at, remove, nil
}

func fillPostgres(ctx context.Context, at string, rows int) error {
	db, err := openPostgres(at)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `CREATE TABLE orders (id bigint PRIMARY KEY, uuid uuid, name text, email text, status text,
		amount numeric(12,2), qty bigint, price float8, active boolean, created_at timestamptz(0), note text, region text)`); err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.Raw(func(driver any) error {
		next, stop := iter.Pull(orders(rows))
		defer stop()
		_, err := driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{"orders"}, reference.Names(), pgx.CopyFromFunc(func() ([]any, error) {
			o, ok := next()
			if !ok {
				return nil, nil
			}
			r := o.record()
			return []any{r.ID, r.UUID, r.Name, r.Email, r.Status, r.Amount, r.Qty, r.Price, r.Active, o.created, r.Note, r.Region}, nil
		}))
		return err
	}); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "VACUUM ANALYZE orders")
	return err
}

func postgresSource(at string, _ int) (connector.Source, error) {
	db, err := openPostgres(at)
	if err != nil {
		return nil, err
	}
	return sqlsource.New(db, pgxrows.PostgreSQL(), nil)
}
