package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance"
)

// reports are the files that -report names, opened before the run: a run of
// minutes must not end with a report that cannot be written.
type reports []reportFile

type reportFile struct {
	*os.File
	render func(*conformance.Report) ([]byte, error)
	made   bool // by us
}

// reportForms are what -report can write, by the extension of the file.
var reportForms = map[string]func(*conformance.Report) ([]byte, error){
	".json": (*conformance.Report).JSON, ".xml": (*conformance.Report).JUnit, ".html": (*conformance.Report).HTML,
}

// extension returns the extension of a file's name, in small letters.
func extension(name string) string { return strings.ToLower(filepath.Ext(name)) }

func openReports(names []string) (files reports, err error) {
	defer func() {
		if err != nil {
			files.discard()
		}
	}()
	for _, name := range names {
		f := reportFile{render: reportForms[extension(name)]}
		if f.render == nil {
			return files, fmt.Errorf("-report %s: the extension tells the form: .json, .xml (JUnit) or .html", name)
		}
		_, err := os.Stat(name)
		f.made = errors.Is(err, fs.ErrNotExist)
		f.File, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return files, fmt.Errorf("-report: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// write fills the files.
func (files reports) write(r *conformance.Report) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.write(r))
	}
	return err
}

func (f reportFile) write(r *conformance.Report) error {
	body, err := f.render(r)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(body)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("the report %s was not written: %w", f.Name(), err)
	}
	return nil
}

// discard leaves the files as they were.
func (files reports) discard() {
	for _, f := range files {
		_ = f.Close()
		if f.made {
			_ = os.Remove(f.Name())
		}
	}
}
