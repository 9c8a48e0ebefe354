package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// asJSON is a table as one JSON object: its description as discovery answers
// it, and its rows as objects, one a line, spelled as they cross the wire.
func asJSON(t Table) []byte {
	raw, err := wire.EncodeAnswer(&wire.Discovery{Tables: []wire.Table{t.Table}})
	if err != nil {
		panic(fmt.Errorf("corpus: table %s: %w", t.Name, err))
	}
	var discovery struct {
		Tables []json.RawMessage `json:"tables"`
	}
	if err := json.Unmarshal(raw, &discovery); err != nil {
		panic(err)
	}
	var b bytes.Buffer
	b.WriteString("{\n\"table\": ")
	b.Write(discovery.Tables[0])
	b.WriteString(",\n\"rows\": [")
	for n, row := range t.Rows {
		b.WriteString([]string{"\n{", ",\n{"}[min(n, 1)])
		for i, v := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(encoded(wire.Text(t.Fields[i].Name)))
			b.WriteByte(':')
			b.Write(encoded(v))
		}
		b.WriteByte('}')
	}
	b.WriteString("\n]\n}\n")
	return b.Bytes()
}

// encoded is a cell as JSON. All cells of the corpus can cross the wire.
func encoded(v wire.Value) []byte {
	raw, err := v.AppendJSON(nil)
	if err != nil {
		panic(err)
	}
	return raw
}

// asCSV is a table as RFC 4180 has it, but for the ends of its lines, which are
// single line feeds. Texts, keys, documents and arrays are quoted always, and
// nothing else is: a null is nothing at all, the empty text is "".
func asCSV(t Table) []byte {
	var b bytes.Buffer
	for i, f := range t.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f.Name)
	}
	b.WriteByte('\n')
	for _, row := range t.Rows {
		for i, v := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			switch {
			case v.IsNull():
			case v.Kind() == wire.KindText:
				b.WriteString(`"` + strings.ReplaceAll(v.Text(), `"`, `""`) + `"`)
			default:
				b.WriteString(v.String())
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
