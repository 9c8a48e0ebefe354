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

// Write writes the corpus into a folder, from which an author can load it: json and csv with a file for each table, sql
// with a script for each of three databases, and README.md, which describes the tables and how to load them. Write
// creates missing folders and replaces existing files.
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
		members := make([]string, len(row))
		for i, v := range row {
			members[i] = encoded(wire.Text(t.Fields[i].Name)) + ":" + encoded(v)
		}
		b.WriteString([]string{"\n{", ",\n{"}[min(n, 1)] + strings.Join(members, ",") + "}")
	}
	b.WriteString("\n]\n}\n")
	return b.Bytes()
}

// encoded returns a cell as JSON. All cells of the corpus can be encoded.
func encoded(v wire.Value) string {
	raw, err := v.AppendJSON(nil)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// asCSV returns a table as in RFC 4180, but with line feeds as line ends. It always quotes texts, keys, documents and
// arrays, and nothing else: a null is nothing at all, and the empty text is "".
func asCSV(t Table) []byte {
	var b bytes.Buffer
	cells := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		cells[i] = f.Name
	}
	b.WriteString(strings.Join(cells, ",") + "\n")
	for _, row := range t.Rows {
		for i, v := range row {
			switch {
			case v.IsNull():
				cells[i] = ""
			case v.Kind() == wire.KindText:
				cells[i] = `"` + strings.ReplaceAll(v.Text(), `"`, `""`) + `"`
			default:
				cells[i] = v.String()
			}
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	return b.Bytes()
}
