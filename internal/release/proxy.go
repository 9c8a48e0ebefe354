package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// checksums are what go.sum says of one module.
type checksums struct{ zip, file string }

// lines returns the two lines of go.sum.
func (c checksums) lines(path, version string) []string {
	return []string{
		fmt.Sprintf("%s %s %s\n", path, version, c.zip),
		fmt.Sprintf("%s %s/go.mod %s\n", path, version, c.file),
	}
}

// writeProxy rewrites the staged modules for the version, and writes the released ones
// into dir, laid out as a module proxy: GOPROXY=file://DIR serves them.
func writeProxy(staged, dir, version string, when time.Time, modules []*mod) error {
	sums := map[*mod]checksums{}
	for i, m := range modules {
		if err := rewrite(staged, version, m, modules[:i], sums); err != nil {
			return err
		}
		if !m.released() {
			continue
		}
		sum, err := writeModule(filepath.Join(staged, filepath.FromSlash(m.dir)), dir, version, when, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.path(), err)
		}
		sums[m] = sum
	}
	return nil
}

// writeModule writes the four files by which a proxy serves one version.
func writeModule(folder, dir, version string, when time.Time, m *mod) (checksums, error) {
	escaped, err := module.EscapePath(m.path())
	if err != nil {
		return checksums{}, err
	}
	at := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return checksums{}, err
	}
	goMod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return checksums{}, err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, when.UTC().Truncate(time.Second)})
	if err != nil {
		return checksums{}, err
	}
	var packed bytes.Buffer
	if err := zip.CreateFromDir(&packed, module.Version{Path: m.path(), Version: version}, folder); err != nil {
		return checksums{}, err
	}
	for name, data := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": info, version + ".mod": goMod, version + ".zip": packed.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(at, name), data, 0o644); err != nil {
			return checksums{}, err
		}
	}
	var sum checksums
	if sum.zip, err = dirhash.HashZip(filepath.Join(at, version+".zip"), dirhash.Hash1); err != nil {
		return checksums{}, err
	}
	sum.file, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(goMod)), nil
	})
	return sum, err
}
