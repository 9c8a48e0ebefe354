package restsource_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
)

type decoder = func(body []byte) ([]byte, error)

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func zipped(files ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	_, _ = w.Create("folder/")
	for i, text := range files {
		f, _ := w.Create(fmt.Sprintf("folder/part-%d", i))
		_, _ = f.Write([]byte(text))
	}
	_ = w.Close()
	return b.String()
}

// TestDecode: bodies in the formats that public reports tell of, and what becomes of them.
func TestDecode(t *testing.T) {
	csv := restsource.DecodeCSV(',', "id", "name")
	items := restsource.DecodeXML("items.item", "items.item.tag")
	keyed := restsource.DecodeKeyed("data", "id")
	rowwise, columnar := restsource.DecodeColumns("rows", "columns"), restsource.DecodeColumns("hourly", "")
	for _, c := range []struct {
		name   string
		decode decoder
		body   string
		want   string // "": an error
	}{
		{"cells are texts, and an empty one is null", csv, "id,name\n1,\"a \"\"b\"\",\nc\"\n2,\n",
			`[{"id":"1","name":"a \"b\",\nc"},{"id":"2","name":null}]`},
		{"a byte order mark is not in the first name: adaltas/node-csv-parse#284, grafana/grafana-csv-datasource#292",
			csv, "\uFEFFid,name\r\n1,Ann\r\n", `[{"id":"1","name":"Ann"}]`},
		{"another separator", restsource.DecodeCSV('\t', "id"), "id\tx\n1\t,\n", `[{"id":"1","x":","}]`},
		{"a header alone has no rows", csv, "name,id\n", `[]`},
		{"an error in place of the rows is no empty table", csv, `{"error":"try later"}` + "\n", ``},
		{"nor is a page for people", csv, "<html>\n", ``},
		{"nor is nothing", csv, "", ``},
		{"a row that is too short broke off", csv, "id,name\n1,Ann\n2", ``},
		{"a quotation mark that is not closed did too", csv, "id,name\n1,\"Ann\n", ``},
		{"two columns of one name", csv, "id,name,id\n1,Ann,2\n", ``},
		{"text in another encoding", csv, "id,name\n1,Zo\xeb\n", ``},

		{"lines", restsource.DecodeNDJSON, "{\"id\": 1.50}\r\n\n{\"id\": 2}", `[{"id": 1.50},{"id": 2}]`},
		{"two objects in one line: Wave-RF/WaveHouse#398", restsource.DecodeNDJSON, `{"id":1}{"id":2}`, ``},
		{"a line that broke off", restsource.DecodeNDJSON, "{\"id\":1}\n{\"id\"", ``},

		{"several elements", items, `<?xml version="1.0"?><r xmlns="urn:x"><!-- c --><items><item id="1"><n>a &amp; b</n></item>` +
			`<item id="2"/></items><next>x</next></r>`,
			`{"items":{"item":[{"@id":"1","n":"a \u0026 b","tag":[]},{"@id":"2","tag":[]}]},"next":"x"}`},
		{"one element is a list too: martinblech/xmltodict#14, #161", items, `<r><items><item><tag>t</tag></item></items></r>`,
			`{"items":{"item":[{"tag":["t"]}]}}`},
		{"and so is none", items, `<r><items/></r>`, `{"items":{"item":[]}}`},
		{"attributes of a text stand beside it, so that it stays a text in each row", items,
			`<r><items><item><p c="EUR">5</p><q xsi:nil="true" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"/></item></items></r>`,
			`{"items":{"item":[{"p":"5","p@c":"EUR","q":null,"tag":[]}]}}`},
		{"a text in a row with attributes alone", items, `<r><items><item id="1">five</item></items></r>`,
			`{"items":{"item":[{"#text":"five","@id":"1","tag":[]}]}}`},
		{"Latin-1", items, "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><r><items/><n>Zo\xeb</n></r>", `{"items":{"item":[]},"n":"Zoë"}`},
		{"an element that repeats and is not said to: martinblech/xmltodict#201", items,
			`<r><items><item><a>1</a><a>2</a></item></items></r>`, ``},
		{"text among elements", items, `<r><items>x<item/></items></r>`, ``},
		{"half of it", items, `<r><items><item>`, ``},
		{"two documents", items, `<r/><r/>`, ``},
		{"nested without end", items, strings.Repeat("<a>", 1000) + strings.Repeat("</a>", 1000), ``},
		{"an entity of its own", items, `<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>`, ``},

		{"an object whose keys are ids", keyed, `{"data": {"7": {"n": 1.0}, "a\"b": {}, "9": 5}, "next": null}`,
			`{"data": [{"id":"7","n":1.0},{"id":"9","value":5},{"id":"a\"b"}], "next": null}`},
		{"an empty one, as PHP writes it", keyed, `{"data": []}`, `{"data": []}`},
		{"a list that is not empty has no ids", keyed, `{"data": [{"n": 1}]}`, ``},
		{"the whole answer", restsource.DecodeKeyed("", "day"), `{"mon": "x"}`, `[{"day":"mon","value":"x"}]`},
		{"two of one id", keyed, `{"data": {"7": {}, "7": {}}}`, ``},
		{"names once, and rows: simonw/datasette#6, confluentinc/ksql#3526", rowwise, `{"columns": ["id", "x"], "rows": [[1.0, "a"], [2, null]]}`,
			`{"columns": ["id", "x"], "rows": [{"id":1.0,"x":"a"},{"id":2,"x":null}]}`},
		{"names in objects", restsource.DecodeColumns("rows", "schema.name"), `{"schema": [{"name": "id", "type": "INT"}], "rows": [[1]]}`,
			`{"schema": [{"name": "id", "type": "INT"}], "rows": [{"id":1}]}`},
		{"a row with a cell less", rowwise, `{"columns": ["id", "x"], "rows": [[1]]}`, ``},
		{"rows without names", rowwise, `{"rows": [[1]]}`, ``},
		{"a list for each column", columnar, `{"hourly": {"time": ["10:00", "11:00"], "t": [1.50, null]}}`,
			`{"hourly": [{"t":1.50,"time":"10:00"},{"t":null,"time":"11:00"}]}`},
		{"lists of other lengths", columnar, `{"hourly": {"time": ["10:00", "11:00"], "t": [1]}}`, ``},

		{"no longer compressed: airbytehq/airbyte-python-cdk#378", restsource.DecodeGzip(nil), `[1]`, `[1]`},
		{"compressed, and broken off", restsource.DecodeGzip(restsource.DecodeNDJSON), gzipped(strings.Repeat("{}\n", 9))[:24], ``},
		{"a zip of compressed lines: airbytehq/airbyte#23144", restsource.DecodeZip(restsource.DecodeGzip(restsource.DecodeNDJSON)),
			zipped(gzipped("{\"id\":1}\n{\"id\":2}\n"), gzipped(""), gzipped("{\"id\":3}\n")), `[{"id":1},{"id":2},{"id":3}]`},
		{"a zip of one file of any shape", restsource.DecodeZip(nil), zipped(`{"rows": []}`), `{"rows": []}`},
		{"files that are no lists", restsource.DecodeZip(nil), zipped(`{"rows": []}`, `{"rows": []}`), ``},
		{"an empty zip", restsource.DecodeZip(nil), zipped(), ``},
		{"a zip that broke off", restsource.DecodeZip(nil), zipped("[]")[:40], ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.decode([]byte(c.body))
			if err == nil && !json.Valid(got) { // which the source reads next, and more strictly
				err = fmt.Errorf("not JSON: %s", got)
			}
			if c.want == "" {
				require.Error(t, err)
				assert.NotContains(t, err.Error(), "Ann", "no error quotes the answer")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
}

// TestBombs: a small answer that unpacks to a very large one is refused.
func TestBombs(t *testing.T) {
	bomb := strings.Repeat(gzipped(strings.Repeat(" ", 1<<20)), 130) // members one after the other are one text
	require.Less(t, len(bomb), 1<<20)
	for name, c := range map[string]struct {
		decode decoder
		body   string
	}{
		"gzip":         {restsource.DecodeGzip(nil), bomb},
		"files in zip": {restsource.DecodeZip(nil), zipped(strings.Repeat(" ", 70<<20), strings.Repeat(" ", 70<<20))},
	} {
		_, err := c.decode([]byte(c.body))
		require.ErrorContains(t, err, "larger", name)
	}
}
