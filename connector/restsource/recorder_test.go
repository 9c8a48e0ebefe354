package restsource_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestRecorder records a read of the shop, and reads it again without the shop.
func TestRecorder(t *testing.T) {
	dir := t.TempDir()
	read := func(upstream http.RoundTripper) (string, error) {
		src, err := restsource.New(shopAPI, shopTables(), &restsource.Options{Transport: &restsource.Recorder{Dir: dir, Upstream: upstream}})
		require.NoError(t, err)
		tenant := connectortest.Start(t, shopDefinition, src, quiet).As(shopCredentials).Unverified()
		answer, err := tenant.Query(wire.QueryRequest{Table: "customers", Fields: []string{"code", "name", "city"}})
		if err != nil {
			return "", err
		}
		return answer.JSON(), nil
	}
	live, err := read(handlerTransport{newShop()})
	require.NoError(t, err)
	replayed, err := read(nil)
	require.NoError(t, err)
	assert.Equal(t, live, replayed)

	names := filesIn(t, dir)
	assert.Equal(t, []string{"GET_v1_customers_limit=3_page=1.http", "GET_v1_customers_limit=3_page=2.http",
		"GET_v1_customers_limit=3_page=3.http", "GET_v1_customers_limit=3_page=4.http"}, names)
	require.NoError(t, os.Remove(filepath.Join(dir, names[2])))
	_, err = read(nil)
	require.Error(t, err, "a missing recording is not an empty page")
}

// TestRecordedFile shows a file. Secrets are in none.
func TestRecordedFile(t *testing.T) {
	const token, key = "Bearer-secret-1", "key+secret/2"
	dir := t.TempDir()
	turn := 0
	upstream := transportFunc(func(*http.Request) (*http.Response, error) {
		if turn++; turn == 1 {
			return reply(429, "slow down, "+token, "Retry-After: 3"), nil
		}
		return reply(200, `{"rows": ["`+token+`", "key%2Bsecret%2F2"]}`, "Content-Type: application/json", "Set-Cookie: session=secret-3",
			"X-RateLimit-Remaining: 5", `Link: <https://api.example/rows?api_key=key%2Bsecret%2F2&page=2&access_token=secret-5>; rel="next"`), nil
	})
	ask := func(c *restsource.Recorder) (*http.Response, string, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"https://api.example/rows?page=1&api_key=key%2Bsecret%2F2&my_pin=pin-secret-4", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Accept", "application/json")
		res, err := c.RoundTrip(r)
		if err != nil {
			return nil, "", err
		}
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res, string(body), nil
	}
	recorder := &restsource.Recorder{Dir: dir, Upstream: upstream, Secret: []string{"my_pin"}}
	for range 4 {
		_, _, err := ask(recorder)
		require.NoError(t, err)
	}
	names := filesIn(t, dir)
	require.Len(t, names, 2, "an answer like the one before is not written again")
	var all bytes.Buffer
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		all.WriteString(name)
		all.Write(text)
	}
	assert.NotContains(t, strings.ToLower(all.String()), "secret")
	second, err := os.ReadFile(filepath.Join(dir, names[0]))
	require.NoError(t, err)
	assert.Equal(t, `GET /rows?api_key=[redacted]&my_pin=[redacted]&page=1

200
Content-Type: application/json
Link: <https://api.example/rows?api_key=[redacted]&page=2&access_token=[redacted]>; rel="next"
X-Ratelimit-Remaining: 5

{"rows": ["[redacted]", "[redacted]"]}`, string(second))

	replay := &restsource.Recorder{Dir: dir, Secret: []string{"my_pin"}}
	for _, status := range []int{429, 200, 200, 200} {
		res, _, err := ask(replay)
		require.NoError(t, err)
		assert.Equal(t, status, res.StatusCode, "the recordings answer in turn, the last one for ever")
		assert.NotEmpty(t, res.Header.Get("Retry-After")+res.Header.Get("Link"))
	}
	_, _, err = ask(&restsource.Recorder{Dir: t.TempDir(), Secret: []string{"my_pin"}})
	var missing *restsource.MissingError
	require.ErrorAs(t, err, &missing)
	assert.NotContains(t, err.Error(), "secret")
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
