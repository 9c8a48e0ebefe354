package ndjson_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit/verdicts"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
)

// The cases that hold the JSON Schemas of stream lines hold the reader too: the
// two must give equal verdicts, but for what only bytes can show, which is the
// reader's alone.
func TestReaderAgreesWithTheSchemas(t *testing.T) {
	const folder = "../wire/testdata/verdicts"
	for _, schema := range []string{"line", "line-served", "line-rows", "line-ping", "line-end", "line-error"} {
		for _, c := range verdicts.Read(t, filepath.Join(folder, schema)) {
			t.Run(schema+"/"+c.Why, func(t *testing.T) {
				line := c.Message()
				if c.Body != nil {
					line = bytes.ReplaceAll(line, []byte("\n"), []byte(" ")) // the file may break a body into lines
				}
				kind, err := readOne(string(line))
				if err != nil {
					var fault *ndjson.LineError
					require.ErrorAs(t, err, &fault)
					assert.Equal(t, 1, fault.Line)
				}
				// A sound line of another kind is none of this one.
				accepted := err == nil && (schema == "line" || schema == "line-"+kind)
				assert.Equal(t, c.Valid, accepted, "%v", err)
			})
		}
	}
}

// readOne returns the kind of a line, which it reads as the first of a stream that goes
// on soundly where it may.
func readOne(line string) (kind string, err error) {
	kind = "ping"
	said, err := transcript(ndjson.NewReader(strings.NewReader(line + "\n" + end)))
	var fault *ndjson.LineError
	if errors.As(err, &fault) && fault.Line == 2 { // the line ends a stream
		kind = "end"
		said, err = transcript(ndjson.NewReader(strings.NewReader(line + "\n")))
	}
	if len(said) > 0 {
		kind, _, _ = strings.Cut(said[0], " ")
	}
	if strings.HasPrefix(kind, "{") {
		kind = "rows"
	}
	return kind, err
}
