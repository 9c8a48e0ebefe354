package record_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/record"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// reply and always answer requests without a network.
var reply, always = testkit.Reply, testkit.Always

// ask sends a request, its headers as "Name: value", and returns the answer and its body.
func ask(t *testing.T, recorder *record.Recorder, method, address, body string, headers ...string) (*http.Response, string, error) {
	t.Helper()
	r := testkit.Must(http.NewRequestWithContext(t.Context(), method, "https://api.example"+address, strings.NewReader(body)))(t)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	res, err := recorder.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	return res, string(testkit.Must(io.ReadAll(res.Body))(t)), res.Body.Close()
}

// written returns the names of the files of a directory, and all of their texts.
func written(t *testing.T, dir string) (names []string, texts string) {
	t.Helper()
	for _, e := range testkit.Must(os.ReadDir(dir))(t) {
		names = append(names, e.Name())
		texts += string(testkit.Must(os.ReadFile(filepath.Join(dir, e.Name())))(t))
	}
	return names, texts
}

// TestRecordedFile shows a file. Secrets are in none.
func TestRecordedFile(t *testing.T) {
	const token, key = "Bearer-secret-1", "key+secret/2"
	dir := t.TempDir()
	turn := 0
	upstream := testkit.Transport(func(*http.Request) (*http.Response, error) {
		if turn++; turn == 1 || turn == 4 {
			return reply(429, "slow down, "+token, "Retry-After: 3"), nil
		}
		return reply(200, `{"rows": ["`+token+`", "key%2Bsecret%2F2"]}`, "Content-Type: application/json", "Set-Cookie: session=secret-3",
			"X-RateLimit-Remaining: 5", `Link: <https://api.example/rows?api_key=key%2Bsecret%2F2&page=2&access_token=secret-5>; rel="next"`), nil
	})
	rows := func(c *record.Recorder) (*http.Response, error) {
		res, _, err := ask(t, c, http.MethodGet, "/rows?page=1&api_key=key%2Bsecret%2F2&my_pin=pin-secret-4", "",
			"Authorization: Bearer "+token, "Accept: application/json")
		return res, err
	}
	recorder := &record.Recorder{Dir: dir, Upstream: upstream, Secret: []string{"my_pin"}}
	for range 5 {
		testkit.Must(rows(recorder))(t)
	}
	names, texts := written(t, dir)
	require.Len(t, names, 4, "an answer like the one before is not written again")
	for i, end := range []string{".2.http", ".3.http", ".4.http", ".http"} {
		assert.Equal(t, strings.TrimSuffix(names[3], ".http")+end, names[i])
	}
	assert.NotContains(t, strings.ToLower(strings.Join(names, "")+texts), "secret")
	second := testkit.Must(os.ReadFile(filepath.Join(dir, names[0])))(t)
	assert.Equal(t, `GET /rows?api_key=[redacted]&my_pin=[redacted]&page=1

200
Content-Type: application/json
Link: <https://api.example/rows?api_key=[redacted]&page=2&access_token=[redacted]>; rel="next"
X-Ratelimit-Remaining: 5

{"rows": ["[redacted]", "[redacted]"]}`, string(second))

	replay := &record.Recorder{Dir: dir, Secret: []string{"my_pin"}}
	for _, status := range []int{429, 200, 429, 200, 200} {
		res := testkit.Must(rows(replay))(t)
		assert.Equal(t, status, res.StatusCode, "the recordings answer in turn, the last one for ever")
		assert.NotEmpty(t, res.Header.Get("Retry-After")+res.Header.Get("Link"))
	}
	_, err := rows(&record.Recorder{Dir: t.TempDir(), Secret: []string{"my_pin"}})
	var missing *recording.Missing
	require.ErrorAs(t, err, &missing)
	assert.NotContains(t, err.Error(), "secret")
}

// TestRecordedSecrets: a secret of the request is in no file and in no name of one,
// wherever the request has it and wherever the answer repeats it.
func TestRecordedSecrets(t *testing.T) {
	const secret = "s3cr3t-of-the-tenant"
	spelled := strings.NewReplacer("SECRET", secret, "USER", basic(secret, "p"), "PASSWORD", basic("u", secret))
	for _, c := range testkit.Table(t, "testdata/secrets.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			method, sent, headers := http.MethodGet, spelled.Replace(c[2]), []string(nil)
			if c[3] != "" {
				headers = strings.Split(spelled.Replace(c[3]), " | ")
			}
			dir := t.TempDir()
			recorder := &record.Recorder{Dir: dir, Secret: strings.Fields(c[4]), Upstream: testkit.Transport(func(r *http.Request) (*http.Response, error) {
				if r.Body != nil {
					body, err := io.ReadAll(r.Body)
					assert.NoError(t, err)
					assert.Equal(t, sent, string(body), "the upstream gets the body")
				}
				return reply(200, `{"you": "`+secret+`"}`, "Link: </of/"+secret+`?p=2&token=`+secret+`>; rel="next"`, "X-Total-Count: "+secret,
					"Server: "+secret, "Content-Type: application/json", "Date: Sat, 01 Jan 2022 00:00:00 GMT"), nil
			})}
			if sent != "" {
				method = http.MethodPost
			}
			_, body, err := ask(t, recorder, method, spelled.Replace(c[1]), sent, headers...)
			require.NoError(t, err)
			assert.Contains(t, body, secret, "whoever asks gets the whole answer")
			names, text := written(t, dir)
			require.Len(t, names, 1)
			assert.NotContains(t, names[0]+text, secret)
			_, answer, _ := strings.Cut(text, "\n\n")
			assert.Equal(t, `200
Content-Type: application/json
Date: Sat, 01 Jan 2022 00:00:00 GMT
Link: </of/[redacted]?p=2&token=[redacted]>; rel="next"
X-Total-Count: [redacted]

{"you": "[redacted]"}`, answer)
		})
	}
}

func basic(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// TestRecordedApart: requests that differ have answers of their own, though their
// names may look alike. With another token, the same request has the same answer.
func TestRecordedApart(t *testing.T) {
	long := strings.Repeat("long", 40)
	requests := []string{ // method, address, body
		"GET /a/b", "GET /a_b", "GET /a?b", "GET /a%2Fb", "GET /a?b=c+d", "GET /a?b=c_d", "GET /a?b=c%2Bd", "GET /a?b=c&d", "GET /a?b=c%26d",
		"POST /a/b", "POST /a/b one", "POST /a/b two", "POST /a/b the-token", "GET /" + long + "/1", "GET /" + long + "/2",
	}
	body := func(recorder *record.Recorder, request, token string) (string, error) {
		method, rest, _ := strings.Cut(request, " ")
		address, body, _ := strings.Cut(rest, " ")
		_, text, err := ask(t, recorder, method, address, strings.ReplaceAll(body, "the-token", token), "Authorization: Bearer "+token)
		return text, err
	}
	dir := t.TempDir()
	for i, request := range requests {
		recorder := &record.Recorder{Dir: dir, Upstream: always(200, strconv.Itoa(i))}
		testkit.Must(body(recorder, request, "token-of-one"))(t)
	}
	names, _ := written(t, dir)
	assert.Len(t, names, len(requests))
	for _, name := range names {
		assert.LessOrEqual(t, len(name), 130, "a file system takes it")
	}
	replay := &record.Recorder{Dir: dir}
	for i, request := range requests {
		got := testkit.Must(body(replay, request, "token-of-another"))(t, request)
		assert.Equal(t, strconv.Itoa(i), got, request)
	}
}

// TestRecordedWrong: a file that is no recording is said to be none.
func TestRecordedWrong(t *testing.T) {
	for _, text := range []string{"GET /a\n", "GET /a\n\nOK\n", "GET /a\n\n\n{}", "GET /a\n\n200\nno header\n\n{}"} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "GET_a.http"), []byte(text), 0o600))
		_, _, err := ask(t, &record.Recorder{Dir: dir}, http.MethodGet, "/a", "")
		require.ErrorContains(t, err, "is not a recording", "%q", text)
	}
}

// TestRecordedNames: a file that was named before the secret in its name was known gets another name.
func TestRecordedNames(t *testing.T) {
	const secret = "credential-5b1f90"
	dir := t.TempDir()
	recorder := &record.Recorder{Dir: dir, Upstream: always(200, `{"a": "`+secret+`", "b": 1}`)}
	for _, headers := range [][]string{nil, {"X-Anything: " + secret}} {
		_, _, err := ask(t, recorder, http.MethodGet, "/of/"+secret+"/rows?page_token=c1", "", headers...)
		require.NoError(t, err)
	}
	names, texts := written(t, dir)
	assert.NotContains(t, strings.ToLower(texts), secret)
	for _, name := range names {
		assert.True(t, strings.HasPrefix(name, "GET_of_redacted_rows_page_token=c1"), name)
	}
}

// TestRecordedJSONStaysJSON answers with a header of the request: at the end of a text, where its last quotation mark is beside that
// of the text; and as a number and a word.
func TestRecordedJSONStaysJSON(t *testing.T) {
	quoting := `OAuth realm="x", oauth_signature="Zm9vYmFyQ8x"`
	for secret, c := range map[string]struct {
		answer any
		want   string
	}{
		quoting:   {map[string]any{"said": "you sent " + quoting, "rows": []int{1}}, `{"rows":[1],"said":"you sent [redacted]"}`},
		"4711471": {[]int{4711471, 2}, `[0,2]`},
		"true":    {[]any{true, "true", 2}, `[0,"[redacted]",2]`},
	} {
		body := testkit.Must(json.Marshal(c.answer))(t)
		header, dir := "Authorization: "+secret, t.TempDir()
		_, _, err := ask(t, &record.Recorder{Dir: dir, Upstream: always(200, string(body))}, http.MethodGet, "/a", "", header)
		require.NoError(t, err)
		_, text, err := ask(t, &record.Recorder{Dir: dir}, http.MethodGet, "/a", "", header)
		require.NoError(t, err)
		assert.Equal(t, c.want, text)
	}
}
