package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// engine is a database that a script is tried on.
type engine struct {
	script  string
	program string
	dialect *dialect
	// run runs a statement or a script that stands on standard input, in a
	// database; "" is any that is there.
	run func(database, input string) (string, error)
	// row is an expression that makes a JSON array of texts of expressions.
	row     func(columns []string) string
	day     string // a format of a column of days as text
	instant string // a format of a column of instants as text
}

func command(program, input string, args ...string) (string, error) {
	c := exec.Command(program, args...)
	c.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, errs.String())
	}
	return out.String(), nil
}

var engines = []engine{
	{
		script: "postgres.sql", program: "psql", dialect: &dialects[1],
		run: func(database, input string) (string, error) {
			args := []string{"-X", "-q", "-t", "-A", "-w", "-v", "ON_ERROR_STOP=1", "-d"}
			if database == "" {
				database = "postgres"
			}
			if os.Getenv("PGHOST") == "" {
				args = append([]string{"-h", "127.0.0.1", "-U", "postgres"}, args...)
			}
			return command("psql", input, append(args, database)...)
		},
		row: func(columns []string) string {
			return "array_to_json(ARRAY[(" + strings.Join(columns, ")::text, (") + ")::text])"
		},
		day: "to_char(%s, 'YYYY-MM-DD')", instant: `to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
	},
	{
		script: "mysql.sql", program: "mariadb", dialect: &dialects[2],
		run: func(database, input string) (string, error) {
			args := []string{"--default-character-set=utf8mb4", "--batch", "--raw", "--skip-column-names"}
			if database != "" {
				args = append(args, database)
			}
			return command("mariadb", input, args...)
		},
		row: func(columns []string) string {
			return "JSON_ARRAY(CAST(" + strings.Join(columns, " AS CHAR), CAST(") + " AS CHAR))"
		},
		day: "%s", instant: "DATE_FORMAT(%s, '%%Y-%%m-%%dT%%H:%%i:%%s.%%fZ')",
	},
	{
		script: "sqlite.sql", program: "python3", dialect: &dialects[0],
		run: func(database, input string) (string, error) {
			if database == "" {
				database = ":memory:"
			}
			const program = `
import json, sqlite3, sys
text = sys.stdin.buffer.read().decode()
db = sqlite3.connect(sys.argv[1])
if text.startswith("SELECT"):
    for row in db.execute(text):
        sys.stdout.write(json.dumps([None if v is None else v if isinstance(v, str) else repr(v) for v in row]) + "\n")
else:
    db.executescript(text)
`
			return command("python3", input, "-c", program, database)
		},
		row: func(columns []string) string { return strings.Join(columns, ", ") },
		day: "%s", instant: "%s",
	},
}

// TestScriptsLoad loads each script into its database and reads every cell back.
func TestScriptsLoad(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir))
	for _, e := range engines {
		t.Run(e.script, func(t *testing.T) {
			if _, err := exec.LookPath(e.program); err != nil {
				t.Skipf("%s is not installed, so sql/%s is not tried", e.program, e.script)
			}
			if _, err := e.run("", "SELECT 1"); err != nil {
				t.Skipf("no server answers %s, so sql/%s is not tried: %v", e.program, e.script, err)
			}
			database := "corpus_test_" + strconv.Itoa(os.Getpid())
			if e.program == "python3" {
				database = filepath.Join(dir, database) // a file, which needs no making
			} else {
				_, err := e.run("", "CREATE DATABASE "+database)
				require.NoError(t, err)
				defer func() {
					_, err := e.run("", "DROP DATABASE "+database)
					require.NoError(t, err)
				}()
			}
			script, err := os.ReadFile(filepath.Join(dir, "sql", e.script))
			require.NoError(t, err)
			_, err = e.run(database, string(script))
			require.NoError(t, err)
			for _, table := range Tables() {
				e.compare(t, database, table)
			}
		})
	}
}

func (e *engine) compare(t *testing.T, database string, table Table) {
	var columns []string
	for _, f := range table.Fields {
		column := e.dialect.name(f.Name)
		switch f.Type {
		case wire.TypeDate:
			column = fmt.Sprintf(e.day, column)
		case wire.TypeDatetime:
			column = fmt.Sprintf(e.instant, column)
		}
		columns = append(columns, column)
	}
	out, err := e.run(database, "SELECT "+e.row(columns)+" FROM "+e.dialect.name(table.Name)+" ORDER BY "+e.dialect.names(table.PrimaryKey))
	require.NoError(t, err, table.Name)
	var rows [][]*string
	for decoder := json.NewDecoder(strings.NewReader(out)); decoder.More(); {
		var row []*string
		require.NoError(t, decoder.Decode(&row), table.Name)
		rows = append(rows, row)
	}
	require.Len(t, rows, len(table.Rows), table.Name)
	for n, row := range table.Rows { // the corpus's rows stand in the order of their keys
		for i, want := range row {
			if !kept(want, rows[n][i]) {
				t.Errorf("%s, rows[%d], %s: not kept: %s", table.Name, n, table.Fields[i].Name, want)
			}
		}
	}
}

// kept reports whether the text a database has for a cell stands for it.
func kept(want wire.Value, got *string) bool {
	if want.IsNull() || got == nil {
		return want.IsNull() && got == nil
	}
	switch want.Kind() {
	case wire.KindBool:
		return *got == strconv.FormatBool(want.IsTrue()) || *got == map[bool]string{true: "1", false: "0"}[want.IsTrue()]
	case wire.KindFloat:
		f, err := strconv.ParseFloat(*got, 64)
		return err == nil && f == want.Float64()
	case wire.KindDecimal:
		return oracle.Same(want, wire.Text(*got), wire.TypeDecimal)
	}
	return want.String() == *got
}
