package corpus

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// dialect describes how the script of one database differs from the others.
type dialect struct {
	file     string
	database string
	load     string // a command
	open     string // the first lines
	quote    string // around a name
	types    map[wire.Type]string
	// The types of a column of integers, of doubles, and of text in a key.
	integer, double, keyText string
	text                     func(string) string // a literal
	instant                  func(string) string // of microseconds, such as 2024-02-29T00:00:00.000000Z
	quoteDecimals            bool
	comment                  string // after a column: a format of its description; empty: none
	commentAfter             string // a statement: a format of the table, the column and its description
	// Foreign keys are declared although they have orphans: in the table or, if this is not empty, by
	// a statement after the rows that ends so: "ADD FOREIGN KEY ... REFERENCES ... NOT VALID".
	foreignAfter string
	options      string // of a table
}

var dialects = [...]dialect{
	{
		file: "sqlite.sql", database: "SQLite", load: "sqlite3 corpus.db < sql/sqlite.sql",
		open:  "PRAGMA foreign_keys = OFF;\nBEGIN;\n",
		quote: `"`,
		types: map[wire.Type]string{
			// The word TEXT prevents SQLite from converting digits to floats; the word before it names the type.
			wire.TypeDecimal: "DECIMAL TEXT", wire.TypeBoolean: "BOOLEAN", wire.TypeDate: "DATE TEXT", wire.TypeDatetime: "DATETIME TEXT",
			wire.TypeJSON: "JSON TEXT", wire.TypeArray: "ARRAY TEXT", wire.TypeString: "TEXT", wire.TypeReference: "TEXT",
		},
		integer: "INTEGER", double: "REAL", keyText: "TEXT",
		text:          sqliteText,
		instant:       func(s string) string { return "'" + s + "'" },
		quoteDecimals: true,
	},
	{
		file: "postgres.sql", database: "PostgreSQL", load: "createdb corpus && psql -v ON_ERROR_STOP=1 -d corpus -f sql/postgres.sql",
		open:  "SET client_encoding = 'UTF8';\nSET TIME ZONE 'UTC';\nBEGIN;\n",
		quote: `"`,
		types: map[wire.Type]string{
			wire.TypeDecimal: "numeric", wire.TypeBoolean: "boolean", wire.TypeDate: "date", wire.TypeDatetime: "timestamp with time zone",
			wire.TypeJSON: "json", wire.TypeArray: "json", wire.TypeString: "text", wire.TypeReference: "text",
		},
		integer: "bigint", double: "double precision", keyText: "text",
		text:         postgresText,
		instant:      func(s string) string { return "'" + s + "'" },
		commentAfter: "COMMENT ON COLUMN %s.%s IS %s;\n",
		foreignAfter: " NOT VALID",
	},
	{
		file: "mysql.sql", database: "MySQL and MariaDB",
		load: "mariadb -e 'CREATE DATABASE corpus CHARACTER SET utf8mb4' && mariadb corpus < sql/mysql.sql",
		open: "SET NAMES utf8mb4;\nSET SESSION sql_mode = 'STRICT_ALL_TABLES';\nSET SESSION time_zone = '+00:00';\n" +
			"SET SESSION foreign_key_checks = 0;\nSTART TRANSACTION;\n",
		quote: "`",
		types: map[wire.Type]string{
			wire.TypeDecimal: "DECIMAL(65,30)", wire.TypeBoolean: "BOOLEAN", wire.TypeDate: "DATE", wire.TypeDatetime: "DATETIME(6)",
			// MySQL's own JSON type would reformat the documents.
			wire.TypeJSON: "LONGTEXT CHECK (json_valid(%s))", wire.TypeArray: "LONGTEXT CHECK (json_valid(%s))",
			wire.TypeString: "LONGTEXT", wire.TypeReference: "LONGTEXT",
		},
		integer: "BIGINT", double: "DOUBLE", keyText: "VARCHAR(190) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
		text:    mysqlText,
		instant: func(s string) string { return "'" + strings.TrimSuffix(strings.Replace(s, "T", " ", 1), "Z") + "'" },
		comment: " COMMENT %s",
		options: " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4",
	},
}

func asSQL(d dialect, tables []Table) []byte {
	var b bytes.Buffer
	manifest := tables[0].Rows[0]
	fmt.Fprintf(&b, "-- %s %s for %s. Load it into an empty database:\n--   %s\n", manifest[0], manifest[1], d.database, d.load)
	b.WriteString("-- The foreign keys are declared and not enforced: they have orphans on purpose.\n")
	b.WriteString(d.open)
	for _, t := range tables {
		b.WriteByte('\n')
		d.create(&b, t)
		d.insert(&b, t)
		if d.foreignAfter != "" {
			for _, k := range t.ForeignKeys {
				fmt.Fprintf(&b, "ALTER TABLE %s ADD %s%s;\n", d.name(t.Name), d.foreignKey(k), d.foreignAfter)
			}
		}
		if d.commentAfter != "" {
			for _, f := range t.Fields {
				fmt.Fprintf(&b, d.commentAfter, d.name(t.Name), d.name(f.Name), d.text(comment(f)))
			}
		}
	}
	b.WriteString("\nCOMMIT;\n")
	return b.Bytes()
}

func (d *dialect) name(name string) string { return d.quote + name + d.quote }

func (d *dialect) names(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = d.name(n)
	}
	return strings.Join(quoted, ", ")
}

func (d *dialect) foreignKey(k wire.ForeignKey) string {
	return fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s)", d.name(k.Field), d.name(k.TargetTable), d.name(k.TargetField))
}

// comment returns the comment of a column. It names the type, because not every database has all types.
func comment(f wire.Field) string { return string(f.Type) + ": " + f.SourceDescription }

func (d *dialect) create(b *bytes.Buffer, t Table) {
	fmt.Fprintf(b, "CREATE TABLE %s (\n", d.name(t.Name))
	for i, f := range t.Fields {
		name := d.name(f.Name)
		columnType := strings.ReplaceAll(d.columnType(t, i), "%s", name)
		// A check comes last in the definition of a column.
		columnType, check, checked := strings.Cut(columnType, " CHECK ")
		fmt.Fprintf(b, "  %s %s", name, columnType)
		if !f.Nullable {
			b.WriteString(" NOT NULL")
		}
		if f.Unique && !slices.Equal(t.PrimaryKey, []string{f.Name}) {
			b.WriteString(" UNIQUE")
		}
		if d.comment != "" {
			fmt.Fprintf(b, d.comment, d.text(comment(f)))
		}
		if checked {
			b.WriteString(" CHECK " + check)
		}
		b.WriteString(",\n")
	}
	fmt.Fprintf(b, "  PRIMARY KEY (%s)", d.names(t.PrimaryKey))
	if d.foreignAfter == "" {
		for _, k := range t.ForeignKeys {
			b.WriteString(",\n  " + d.foreignKey(k))
		}
	}
	fmt.Fprintf(b, "\n)%s;\n", d.options)
}

func (d *dialect) columnType(t Table, column int) string {
	f := t.Fields[column]
	switch {
	case f.Type == wire.TypeNumber && isDouble(t, column):
		return d.double
	case f.Type == wire.TypeNumber:
		return d.integer
	case f.Type == wire.TypeString && (f.Unique || slices.Contains(t.PrimaryKey, f.Name)):
		return d.keyText
	}
	return d.types[f.Type]
}

// isDouble reports whether a column of numbers has one that is not an integer.
func isDouble(t Table, column int) bool {
	return slices.ContainsFunc(t.Rows, func(row []wire.Value) bool { return row[column].Kind() == wire.KindFloat })
}

// rowsPerInsert keeps statements within the default limits of every database.
const rowsPerInsert = 500

func (d *dialect) insert(b *bytes.Buffer, t Table) {
	columns := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		columns[i] = f.Name
	}
	for some := range slices.Chunk(t.Rows, rowsPerInsert) {
		var rows []string
		for _, row := range some {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = d.literal(v)
			}
			rows = append(rows, "\n  ("+strings.Join(cells, ", ")+")")
		}
		fmt.Fprintf(b, "INSERT INTO %s (%s) VALUES%s;\n", d.name(t.Name), d.names(columns), strings.Join(rows, ","))
	}
}

func (d *dialect) literal(v wire.Value) string {
	switch v.Kind() {
	case wire.KindNull:
		return "NULL"
	case wire.KindBool:
		return v.String() // which all of them take, SQLite from 3.23 on
	case wire.KindInt:
		return strconv.FormatInt(v.Int64(), 10)
	case wire.KindFloat:
		return d.float(v.Float64())
	case wire.KindDecimal:
		if d.quoteDecimals {
			return "'" + v.Text() + "'"
		}
		return v.Text()
	case wire.KindDate:
		return "'" + v.String() + "'"
	case wire.KindDatetime:
		return d.instant(v.String())
	}
	return d.text(v.Text())
}

// float returns a literal with an exponent, which is a double in every database and keeps the sign of minus zero where
// possible. It quotes the literal for PostgreSQL, which would otherwise read it as an exact number first.
func (d *dialect) float(f float64) string {
	s := strconv.FormatFloat(f, 'e', -1, 64)
	if math.Signbit(f) && f == 0 {
		s = "-0e0"
	}
	if d.foreignAfter != "" {
		return "'" + s + "'"
	}
	return s
}

// backslashed are characters and their escapes in the literals of PostgreSQL, MySQL and MariaDB.
var backslashed = []string{`'`, `\'`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`}

var (
	sqliteText = literals(func(r rune) string { return fmt.Sprintf("' || char(%d) || '", r) }, "'", "''")
	mysqlText  = literals(func(r rune) string { return string(r) }, backslashed...)
	escapeText = literals(func(r rune) string { return fmt.Sprintf(`\u%04x`, r) }, backslashed...) // behind an E
)

func postgresText(s string) string {
	if strings.ContainsRune(s, '\\') || strings.ContainsFunc(s, unicode.IsControl) {
		return "E" + escapeText(s)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// literals returns what writes texts as literals, with some characters and their escapes by turns. control returns the escape
// of any other control character.
func literals(control func(rune) string, escapes ...string) func(string) string {
	pairs := slices.Clone(escapes)
	for r := range rune(unicode.MaxASCII + 1) {
		if unicode.IsControl(r) {
			pairs = append(pairs, string(r), control(r))
		}
	}
	escaped := strings.NewReplacer(pairs...)
	return func(s string) string { return "'" + escaped.Replace(s) + "'" }
}
