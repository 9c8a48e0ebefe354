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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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

// decoders are those of testdata/decoded.tsv.
var decoders = map[string]decoder{
	"csv": restsource.DecodeCSV(',', "id", "name"), "tabs": restsource.DecodeCSV('\t', "id"), "lines": restsource.DecodeNDJSON,
	"items": restsource.DecodeXML("items.item", "items.item.tag"),
	"keyed": restsource.DecodeKeyed("data", "id"), "days": restsource.DecodeKeyed("", "day"),
	"rowwise": restsource.DecodeColumns("rows", "columns"), "columnar": restsource.DecodeColumns("hourly", ""),
	"schema": restsource.DecodeColumns("rows", "schema.name"),
}

// TestDecode: bodies in the formats that public reports tell of, and what becomes of them.
func TestDecode(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/decoded.tsv", 4) {
		decodes(t, c[0], decoders[c[1]], unfold(c[2]), c[3])
	}
	for _, c := range []struct {
		name   string
		decode decoder
		body   string
		want   string // "": an error
	}{
		{"no longer compressed: airbytehq/airbyte-python-cdk#378", restsource.DecodeGzip(nil), `[1]`, `[1]`},
		{"compressed, and broken off", restsource.DecodeGzip(restsource.DecodeNDJSON), gzipped(strings.Repeat("{}\n", 9))[:24], ``},
		{"a zip of compressed lines: airbytehq/airbyte#23144", restsource.DecodeZip(restsource.DecodeGzip(restsource.DecodeNDJSON)),
			zipped(gzipped("{\"id\":1}\n{\"id\":2}\n"), gzipped(""), gzipped("{\"id\":3}\n")), `[{"id":1},{"id":2},{"id":3}]`},
		{"a zip of one file of any shape", restsource.DecodeZip(nil), zipped(`{"rows": []}`), `{"rows": []}`},
		{"files that are no lists", restsource.DecodeZip(nil), zipped(`{"rows": []}`, `{"rows": []}`), ``},
		{"an empty zip", restsource.DecodeZip(nil), zipped(), ``},
		{"a zip that broke off", restsource.DecodeZip(nil), zipped("[]")[:40], ``},
	} {
		decodes(t, c.name, c.decode, c.body, c.want)
	}
}

func decodes(t *testing.T, name string, decode decoder, body, want string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		got, err := decode([]byte(body))
		if err == nil && !json.Valid(got) { // which the source reads next, and more strictly
			err = fmt.Errorf("not JSON: %s", got)
		}
		if want == "" {
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "Ann", "no error quotes the answer")
			return
		}
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	})
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
