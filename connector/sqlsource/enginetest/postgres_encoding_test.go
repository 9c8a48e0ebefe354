package enginetest

import (
	"database/sql"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
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
			differ(t, sqlsourcetest.Engine{Flavor: flavor, DB: db.DB, Key: "bigint", Types: own})
		})
	}
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
