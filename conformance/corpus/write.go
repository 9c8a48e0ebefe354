package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Write writes the corpus into a folder, from which an author can load it: json
// and csv with a file for each table, sql with a script for each of three
// databases, and README.md, which describes the tables and how to load them.
// Write creates missing folders and replaces existing files.
func Write(dir string) error {
	tables := Tables()
	files := map[string][]byte{"README.md": asReadme(tables)} // by their names, with slashes
	for _, t := range tables {
		files["json/"+t.Name+".json"], files["csv/"+t.Name+".csv"] = asJSON(t), asCSV(t)
	}
	for _, d := range dialects {
		files["sql/"+d.file] = asSQL(d, tables)
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("creating the folder for the corpus: %w", err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return fmt.Errorf("writing the corpus: %w", err)
		}
	}
	return nil
}

// asJSON returns a table as one JSON object: its description as discovery
// answers it, and its rows as objects, one a line, spelled as on the wire.
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

// encoded returns a cell as JSON. All cells of the corpus can be encoded.
func encoded(v wire.Value) []byte {
	raw, err := v.AppendJSON(nil)
	if err != nil {
		panic(err)
	}
	return raw
}

// asCSV returns a table as in RFC 4180, but with line feeds as line ends. It
// always quotes texts, keys, documents and arrays, and nothing else: a null is
// nothing at all, and the empty text is "".
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
