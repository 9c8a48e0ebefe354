package enginetest

import (
	"database/sql"
	"encoding/hex"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// encodings are databases whose bytes are not those of UTF-8, with texts that
// each can hold.
var encodings = []struct {
	name  string
	why   string
	texts []string
	more  []sqlsourcetest.Literal
}{
	{"LATIN1", "the bytes have the order of the characters", []string{"ä", "Ã¤", "é", "ÿ", "äb", "a ä"}, nil},
	{"WIN1252", "the euro is 0x80, before é, which is before it as a character", []string{"€", "é", "ÿ", "€uro", "a€"}, nil},
	{"LATIN2", "Ł is 0xA3 and ü 0xFC, which is before it as a character", []string{"Ł", "ü", "Łódź", "żółw"}, nil},
	{"EUC_JP", "characters have several bytes", []string{"日本", "日", "ア", "本日"}, nil},
	{"SQL_ASCII", "the server knows no characters; what is not UTF-8 is null", []string{"ä", "é", "日本", "😀"}, []sqlsourcetest.Literal{
		literal(`convert_from('\xe4', 'SQL_ASCII')`, wire.Null()),
		literal(`convert_from('\x61c3', 'SQL_ASCII')`, wire.Null()),
		literal(`convert_from('\xeda080', 'SQL_ASCII')`, wire.Null()),
		literal(`convert_from('\xf4908080', 'SQL_ASCII')`, wire.Null()),
		literal(`convert_from('\xc080', 'SQL_ASCII')`, wire.Null()),
	}},
}

// TestPostgresEncodings asks databases of other encodings what TestDifferential asks one
// of UTF-8, with operands that they cannot hold. All SQL of the test is ASCII, so
// that only the session under test says what is sent.
func TestPostgresEncodings(t *testing.T) {
	skipShort(t)
	t.Parallel()
	for _, encoding := range encodings {
		t.Run(encoding.name, func(t *testing.T) {
			db := newPostgres(t, "ENCODING '"+encoding.name+"' LOCALE 'C'")
			hexed := func(s string) string { return "convert_from('\\x" + hex.EncodeToString([]byte(s)) + "', 'UTF8')" }
			texts := append(sqlsourcetest.Texts(hexed, append([]string{"", "a", "A", "b ", "1", "true", "z"}, encoding.texts...)...),
				encoding.more...)
			db.execute(t, `CREATE DOMAIN word AS text; CREATE TYPE mood AS ENUM ('sad', 'happy')`)
			flavor := assistedFlavor(db.flavor)
			differ(t, sqlsourcetest.Engine{Flavor: flavor, DB: db.DB, Key: "bigint", Types: []sqlsourcetest.Type{
				{Name: "text", SQL: "text", Type: wire.TypeString, Literals: texts},
				{Name: "c", SQL: `text COLLATE "C"`, Type: wire.TypeString, Literals: texts},
				{Name: "posix", SQL: `varchar(20) COLLATE "POSIX"`, Type: wire.TypeString, Literals: texts},
				{Name: "word", SQL: "word", Type: wire.TypeString, Literals: texts},
				{Name: "char", SQL: "char(4)", Type: wire.TypeString, Literals: postgresTexts("a", "ab", "  a", "")},
				{Name: "mood", SQL: "mood", Type: wire.TypeString, Literals: postgresTexts("sad", "happy")},
				{Name: "uuid", SQL: "uuid", Type: wire.TypeString, Literals: postgresTexts("ffffffff-ffff-4fff-bfff-ffffffffffff")},
				{Name: "bytes", SQL: "bytea", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{text(`'\x00ff'::bytea`, "AP8=")}},
				{Name: "whole", SQL: "integer", Type: wire.TypeNumber, Literals: integers(0, 1, -1, 100)},
				{Name: "numeric", SQL: "numeric", Type: wire.TypeDecimal, Literals: decimals("1.5", "1.50", "-1.5")},
				{Name: "boolean", SQL: "boolean", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{literal("true", wire.Bool(true))}},
				{Name: "day", SQL: "date", Type: wire.TypeDate, Literals: days("2024-02-29", "2024-03-01")},
				{Name: "zoned", SQL: "timestamptz", Type: wire.TypeDatetime, Literals: postgresMoments(6)},
				{Name: "jsonb", SQL: "jsonb", Type: wire.TypeJSON, Literals: documents},
				{Name: "texts", SQL: "text[]", Type: wire.TypeArray, Literals: []sqlsourcetest.Literal{text(`'{a,b}'`, `["a","b"]`)}},
			}})
		})
	}
}

// TestPostgresNamesOutsideASCII finds tables and columns by names that are sent as UTF-8
// and stored in another encoding, and none by names that cannot be stored.
func TestPostgresNamesOutsideASCII(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"LATIN1", "WIN1252", "SQL_ASCII", "UTF8"} {
		t.Run(encoding, func(t *testing.T) {
			db := newPostgres(t, "ENCODING '"+encoding+"' LOCALE 'C'")
			utf8 := db.as(t, func(c *pgx.ConnConfig) { c.RuntimeParams["client_encoding"] = "UTF8" })
			_, err := utf8.Exec(`CREATE TABLE "Größe" ("Länge" text PRIMARY KEY, n int);
				COMMENT ON TABLE "Größe" IS 'Maße'; INSERT INTO "Größe" VALUES ('ä', 1), ('Ã¤', 2)`)
			require.NoError(t, err)
			caller := db.caller(t, nil).Unverified()
			d, err := caller.Discover()
			require.NoError(t, err)
			require.Len(t, d.Tables, 1)
			assert.Equal(t, "Größe", d.Tables[0].Name)
			assert.Equal(t, "Maße", d.Tables[0].SourceDescription)
			answer, err := caller.Query(wire.QueryRequest{Table: "Größe", Fields: []string{"n"}, Where: wire.Where{And: []wire.Filter{
				{Field: "Länge", Op: wire.OpEq, Value: wire.Text("ä")},
			}}, Sort: []wire.SortKey{}})
			require.NoError(t, err)
			assert.Equal(t, [][]wire.Value{{wire.Int(1)}}, answer.Rows)
			for _, unknown := range []string{"Größe😀", "日本", "Größ"} {
				_, err = caller.Size(unknown)
				assert.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err), unknown)
			}
		})
	}
}

// TestPostgresOperandsOutside asks a database in LATIN1 for characters that it cannot
// hold: nothing is equal to them, and everything has its place before or after.
func TestPostgresOperandsOutside(t *testing.T) {
	t.Parallel()
	db := newPostgres(t, "ENCODING 'LATIN1' LOCALE 'C'")
	db.execute(t, `CREATE TABLE t (name text, code char(3), day date, n int, u uuid, tags text[], doc jsonb);
		INSERT INTO t VALUES (chr(228), 'a', '2024-02-29', 1, gen_random_uuid(), '{a}', '["a"]'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)
	caller := db.caller(t, nil).Unverified()
	const emoji = "😀"
	ops := []wire.Filter{
		{Op: wire.OpEq, Value: wire.Text(emoji)},
		{Op: wire.OpNeq, Value: wire.Text(emoji)},
		{Op: wire.OpGt, Value: wire.Text(emoji)},
		{Op: wire.OpLte, Value: wire.Text(emoji)},
		{Op: wire.OpIn, Values: []wire.Value{wire.Text(emoji), wire.Text("ä")}},
		{Op: wire.OpNin, Values: []wire.Value{wire.Text(emoji)}},
		{Op: wire.OpIncludes, Value: wire.Text(emoji)},
		{Op: wire.OpStartsWith, Value: wire.Text("ä" + emoji)},
		{Op: wire.OpContains, Value: wire.Text(emoji)},
	}
	for field, want := range map[string][]int64{
		"name": {0, 1, 0, 1, 1, 2, 0, 0, 0},
		"code": {0, 1, 0, 1, 0, 2, 0, 0, 0},
		"day":  {0, 1, 0, 1, 0, 2, 0, 0, 0},
		"n":    {0, 0, 0, 0, 0, 2, 0, 0, 0}, // a number and a text match no comparator
		"u":    {0, 1, 0, 1, 0, 2, 0, 0, 0},
		"tags": {0, 1, 0, 1, 0, 2, 0, 0, 0},
		"doc":  {0, 1, 0, 1, 0, 2, 0, 0, 0},
	} {
		for i, f := range ops {
			f.Field = field
			n, err := caller.Count(wire.CountRequest{Table: "t", Where: wire.Where{And: []wire.Filter{f}}})
			assert.NoError(t, err, "%s %s", field, f.Op)
			assert.Equal(t, want[i], n, "%s %s", field, f.Op)
		}
	}
}

// TestPostgresNoText asks for a byte that has no character: the request is refused, with
// words of ours, and so only while the column is asked for.
func TestPostgresNoText(t *testing.T) {
	db := newPostgres(t, "ENCODING 'WIN1252' LOCALE 'C'")
	db.execute(t, "CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (1, chr(129)), (2, 'a')")
	caller := db.caller(t, nil).Unverified()
	_, err := caller.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id", "name"}})
	require.Equal(t, wire.CodeUnsupported, wire.CodeOf(err))
	assert.Contains(t, err.Error(), "encoding")
	answer, err := caller.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id"}})
	require.NoError(t, err)
	assert.Len(t, answer.Rows, 2)
}

// TestPostgresSessionEncoding leaves a connection of the host's pool as it was.
func TestPostgresSessionEncoding(t *testing.T) {
	db := newPostgres(t, "ENCODING 'LATIN1' LOCALE 'C'")
	db.SetMaxOpenConns(1)
	before := clientEncoding(t, db.DB)
	require.NoError(t, db.pooled(t, nil).Check(t.Context(), &wire.CheckRequest{}))
	assert.Equal(t, before, clientEncoding(t, db.DB))
}

func clientEncoding(t *testing.T, db *sql.DB) (encoding string) {
	t.Helper()
	require.NoError(t, db.QueryRow("SHOW client_encoding").Scan(&encoding))
	return encoding
}
