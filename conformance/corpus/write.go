package corpus

import (
	"fmt"
	"os"
	"path/filepath"
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
