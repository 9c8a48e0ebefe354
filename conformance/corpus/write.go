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
	for _, f := range written(tables) {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("creating the folder for the corpus: %w", err)
		}
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
			return fmt.Errorf("writing the corpus: %w", err)
		}
	}
	return nil
}

// writtenFile is one file that Write writes.
type writtenFile struct {
	name    string // with slashes
	content []byte
}

func written(tables []Table) []writtenFile {
	files := []writtenFile{{"README.md", asReadme(tables)}}
	for _, t := range tables {
		files = append(files,
			writtenFile{"json/" + t.Name + ".json", asJSON(t)},
			writtenFile{"csv/" + t.Name + ".csv", asCSV(t)},
		)
	}
	for _, d := range dialects {
		files = append(files, writtenFile{"sql/" + d.file, asSQL(d, tables)})
	}
	return files
}
