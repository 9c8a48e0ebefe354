package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteBentTexts stores texts that nearly fit the type of their column, and asks for nulls:
// a value is null to SQL exactly where it is null in an answer. A character 0, which ends a text
// for GLOB, length and substr, is among what bends them.
func TestSQLiteBentTexts(t *testing.T) {
	const alphabet = "0123456789zZtT :.-+ \x00\tabseE{}[]\"\\u"
	for declared, good := range map[string][]string{
		"DATETIME": {"2024-01-31 10:20:58Z", "2024-01-31T10:20:58", "2024-01-31", "2024-01-31 10:20:58.123456789Z",
			"2024-01-31 10:20:58.5+02:00", "2024-01-31 10:20:58 +0200 CEST", "0000-01-01 00:00:00+01:00", "9999-12-31 23:59:59-01:00"},
		"DATE":          {"2024-01-31", "2024-02-29"},
		"DECIMAL(20,4)": {"12345678901234567890.5", "-0.00000000000000000001", "123456789012345678901"},
		"BOOLEAN":       {"true", "false", "0", "1"},
		"JSON":          {`{"a":1}`, "[1,2]", "1.5", `"ab"`, "true", `"\ud83d\ude00"`},
		"INTEGER":       {"12", "1e3", "-7"},
		"REAL":          {"1.5", "-1e-7"},
		"TEXT":          {"a", "1"},
	} {
		t.Run(declared, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			script := "BEGIN; CREATE TABLE d (id INTEGER PRIMARY KEY, v " + declared + ");"
			texts := make([][]byte, 800)
			for i := range texts {
				text := []byte(good[r.IntN(len(good))])
				for n := r.IntN(3); n > 0 && i > 100; n-- { // the first rows tell what the column holds
					p := r.IntN(len(text) + 1)
					insert := alphabet[r.IntN(len(alphabet))]
					cut := p
					if p < len(text) && r.IntN(2) == 0 {
						cut++
					}
					text = append(append(text[:p:p], insert), text[cut:]...)
				}
				texts[i] = text
				script += fmt.Sprintf("INSERT INTO d VALUES (%d, CAST(x'%x' AS TEXT));", i, text)
			}
			tenant := newSQLite(t, script+"COMMIT;").caller(t, nil).Unverified()
			sort := []wire.SortKey{{Field: "id", Dir: wire.Asc}}
			all, err := tenant.Query(wire.QueryRequest{Table: "d", Sort: sort, Fields: []string{"id", "v"}})
			require.NoError(t, err)
			isNull := wire.Where{And: []wire.Filter{{Field: "v", Op: wire.OpIsNull}}}
			nulls, err := tenant.Query(wire.QueryRequest{Table: "d", Where: isNull, Sort: sort, Fields: []string{"id"}})
			require.NoError(t, err)
			var sent, asked []string
			for i, row := range all.Rows {
				if row[1].IsNull() {
					sent = append(sent, fmt.Sprintf("%q", texts[i]))
				}
			}
			for _, row := range nulls.Rows {
				asked = append(asked, fmt.Sprintf("%q", texts[row[0].Int64()]))
			}
			require.Equal(t, strings.Join(sent, "\n"), strings.Join(asked, "\n"))
		})
	}
	const notUTF8 = "CREATE TABLE d (v JSON); INSERT INTO d VALUES ('{}'), (CAST(x'22C322' AS TEXT))" // JSON to json_valid
	_, err := newSQLite(t, notUTF8).caller(t, nil).Unverified().Query(wire.QueryRequest{Table: "d", Sort: []wire.SortKey{}, Fields: []string{"v"}})
	require.ErrorContains(t, err, `field "v" of table "d" has a text that is not valid UTF-8`)
}
