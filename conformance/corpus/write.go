package corpus

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write puts the corpus into a folder, for an author to load: json and csv with
// a file for each table, sql with a script for each of three databases, and
// README.md, which describes the tables and says how to load them. Folders that
// are missing are made, files of these names are replaced.
func Write(dir string) error {
	tables := Tables()
	for _, f := range written(tables) {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("the folder for the corpus cannot be made: %w", err)
		}
		if err := os.WriteFile(path, f.content, 0o644); err != nil {
			return fmt.Errorf("the corpus cannot be written: %w", err)
		}
	}
	return nil
}

// writtenFile is one file that Write makes.
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
