package enginetest

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPostgresFull takes the only connection that a database allows: the next
// request is told so by a code that blames nobody, and served when the connection is
// free.
func TestPostgresFull(t *testing.T) {
	db := newPostgres(t)
	if db.shared() {
		t.Skip("a pooler has the only connection, and whoever comes waits for it")
	}
	role, only := db.role(t, "CONNECTION LIMIT 1")
	db.execute(t, "CREATE TABLE t (id bigint PRIMARY KEY); GRANT SELECT ON t TO "+role)
	held := testkit.Must(pgx.ConnectConfig(t.Context(), only.config))(t)
	caller := only.caller(t, nil).Unverified()
	require.ErrorContains(t, caller.Check(), "no free connection at the moment")
	require.Contains(t, ask(t, caller, `count {"table": "t"}`), "timeout: ")
	require.NoError(t, held.Close(t.Context()))
	// The server frees a connection some time after the client has closed it.
	require.Eventually(t, func() bool { return caller.Check() == nil }, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		_, err := caller.Size("t")
		return err == nil
	}, patience, 10*time.Millisecond)
}

// TestPostgresOwnErrors keeps what the function that opens a database says itself.
func TestPostgresOwnErrors(t *testing.T) {
	src := testkit.Must(sqlsource.NewPerTenant(func(context.Context, wire.Credentials) (*sql.DB, error) {
		return nil, connector.CheckFailed("Database is not one of ours.")
	}, sqlsource.PostgreSQL(), nil))(t)
	err := connectortest.Start(t, connector.Definition{Slug: "own"}, src, nil).As(nil).Unverified().Check()
	require.ErrorContains(t, err, "Database is not one of ours.")
}

// TestPostgresChangedType changes the type of a column between two requests that have one
// statement, which a driver keeps prepared in the host's pool.
func TestPostgresChangedType(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, `CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 7)`)
	db.SetMaxOpenConns(1)
	db.credentials = nil
	keeper := db.caller(t, nil).Unverified()
	const both = `query {"table": "t", "fields": ["id", "n"]}`
	require.Equal(t, "[1, 7]\n", ask(t, keeper, both))
	db.execute(t, `ALTER TABLE t ALTER n TYPE bigint`)
	answer := ask(t, keeper, both)
	if !db.shared() { // else nothing is kept prepared
		require.Contains(t, answer, "timeout: ", "it passes")
		answer = ask(t, keeper, both)
	}
	require.Equal(t, "[1, 7]\n", answer)
}

// TestPostgresOneMoment answers a request as of one moment, although a row comes between
// its calls.
func TestPostgresOneMoment(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, "CREATE TABLE t (id bigint PRIMARY KEY)")
	insert := func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
		err := next(ctx)
		if call.Method == "Describe" {
			_, err = db.ExecContext(ctx, "INSERT INTO t SELECT count(*) FROM t")
		}
		return err
	}
	caller := connectortest.Start(t, db.definition(), db.source(t, nil), &connector.Options{Intercept: insert}).
		As(db.credentials).Unverified()
	for want := range 3 {
		require.Equal(t, fmt.Sprintln(want), ask(t, caller, `count {"table": "t"}`), "the rows of the requests before")
	}
}

// TestPostgresClientLeaves ends the statement on the server when the reader has left.
func TestPostgresClientLeaves(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, postgres.endless())
	for name, flavor := range map[string]sqlengine.Flavor{"sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			answer := db.with(flavor).client(t).ask(ctx, t, `query {"table": "endless", "fields": ["id"], "timeoutMs": 600000}`)
			for _, err := range ndjson.NewReader(answer.Body).Rows() {
				require.NoError(t, err)
				break
			}
			require.Len(t, postgres.statements(t.Context(), t, db.DB, `"endless"`), 1, "it goes on")
			leave()
			postgres.eventuallyRun(t, &db.database, 0, `"endless"`)
		})
	}
}

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
		{SQL: `convert_from('\xe4', 'SQL_ASCII')`},
		{SQL: `convert_from('\x61c3', 'SQL_ASCII')`},
		{SQL: `convert_from('\xeda080', 'SQL_ASCII')`},
		{SQL: `convert_from('\xf4908080', 'SQL_ASCII')`},
		{SQL: `convert_from('\xc080', 'SQL_ASCII')`},
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
			t.Parallel()
			db := newPostgres(t, "ENCODING '"+encoding.name+"' LOCALE 'C'")
			hexed := func(s string) string { return "convert_from('\\x" + hex.EncodeToString([]byte(s)) + "', 'UTF8')" }
			texts := append(sqlsourcetest.Texts(hexed, append([]string{"", "a", "A", "b ", "1", "true", "z"}, encoding.texts...)...),
				encoding.more...)
			db.execute(t, `CREATE DOMAIN word AS text; CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'Zany')`)
			flavor := assisted(db.flavor)
			own := situation.Types(t, "testdata/types_postgres.jsonl",
				"char", "mood", "uuid", "bytes", "small", "numeric", "boolean", "day", "zoned", "jsonb", "texts")
			own = append(own, []sqlsourcetest.Type{
				{Name: "text", SQL: "text", Type: wire.TypeString, Literals: texts},
				{Name: "c", SQL: `text COLLATE "C"`, Type: wire.TypeString, Literals: texts},
				{Name: "posix", SQL: `varchar(20) COLLATE "POSIX"`, Type: wire.TypeString, Literals: texts},
				{Name: "word", SQL: "word", Type: wire.TypeString, Literals: texts},
			}...)
			sqlsourcetest.Run(t, sqlsourcetest.Engine{Flavor: flavor, DB: db.DB, Key: "bigint", Types: own}, situation.Questions(0))
		})
	}
}

// TestPostgresSessionEncoding leaves a connection of the host's pool as it was.
func TestPostgresSessionEncoding(t *testing.T) {
	db := newPostgres(t, "ENCODING 'LATIN1' LOCALE 'C'")
	db.SetMaxOpenConns(1)
	before := linesOf(t, db, "", "SHOW client_encoding")
	require.NoError(t, db.pooled(t, nil).Check(t.Context(), &wire.CheckRequest{}))
	assert.Equal(t, before, linesOf(t, db, "", "SHOW client_encoding"))
}
