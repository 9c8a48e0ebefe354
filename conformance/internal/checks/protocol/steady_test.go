package protocol

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// answering answers the nth request with the rows of the nth text, one letter each; ! stands
// for a refusal.
type answering []string

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	letters := (*a)[0]
	*a = (*a)[1:]
	answer := &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{}}
	answer.Header.Set("Content-Type", "application/x-ndjson")
	body := `{"served":{"filters":true,"sort":true,"window":true}}` + "\n"
	for _, letter := range letters {
		body += `{"rows":[{"c":"` + string(letter) + `"}]}` + "\n"
	}
	body += `{"end":1}` + "\n"
	if letters == "!" {
		answer.StatusCode, body = http.StatusInternalServerError, `{"error":{"code":"internal","message":"internal error"}}`
		answer.Header.Set("Content-Type", "application/json")
	}
	answer.Body = io.NopCloser(strings.NewReader(body))
	return answer, nil
}

// TestSteady tells what varies beside other requests only from what varies alone, and from
// data that changed.
func TestSteady(t *testing.T) {
	for _, test := range []struct {
		why     string
		answers answering
		asked   int
		skip    check.Reason
		by      string
		detail  string // of the finding; empty: none
	}{
		{"as before, so that the other requests are to blame", answering{"abc", "abc", "abc"}, 3, "", "", ""},
		{"as before in another order", answering{"cab", "abc", "bca"}, 3, "", "", ""},
		{"changed, and stays so", answering{"abd", "abd", "abd"}, 3, check.DataChanged, "", `table "t"`},
		{"a row is new, and stays", answering{"abcd", "abcd", "abcd"}, 3, check.DataChanged, "", `table "t"`},
		{"varies at once", answering{"abc", "ab"}, 2, check.Blocked, "L11",
			`table "t" is answered with 3 rows and then, asked alone again, with other 2`},
		{"varies at last", answering{"abc", "abc", "abz"}, 3, check.Blocked, "L11",
			`table "t" is answered with 3 rows and then, asked alone again, with other 3`},
		{"is refused alone too", answering{"!"}, 1, "", "", "500"},
		{"is refused later", answering{"abc", "!"}, 2, "", "", "500"},
	} {
		table := &wire.Table{Name: "t", Fields: []wire.Field{{Name: "c", Type: wire.TypeString}}}
		before := &oracle.Table{Name: "t", Columns: table.Columns()}
		for _, letter := range "abc" {
			before.Rows = append(before.Rows, []wire.Value{wire.Text(string(letter))})
		}
		answers := test.answers
		s, err := session.New(session.Config{
			Base: "http://connector.test", Token: strings.Repeat("t", 40), HTTP: &http.Client{Transport: &answers}, InProcess: true, Rows: 100,
		})
		require.NoError(t, err)
		s.Document = &declared.Document{}
		var f *check.Finding
		s.Judge(t.Context(), &session.Check{ID: "P3.16c", Open: true, Judge: func(run *session.Run) *check.Finding {
			alone := beside{"table t", table, declared.AllRows(table), before}
			f = alone.steady(run)
			return nil
		}})
		require.Equal(t, test.asked, len(test.answers)-len(answers), test.why)
		if test.detail == "" {
			require.Nil(t, f, test.why)
			continue
		}
		require.NotNil(t, f, test.why)
		require.Contains(t, f.Detail, test.detail, test.why)
		require.Equal(t, test.skip, f.Skip, test.why)
		require.Equal(t, test.by, f.By, test.why)
	}
}
