package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/release"
)

// Library is where a project takes the library from: a released version, or the folder
// of a clone.
type Library struct {
	Version string
	Folder  string
}

// LibraryOf returns the library of a version or, if one is named, the clone in a folder.
func LibraryOf(version, folder string) (Library, error) {
	if folder != "" {
		abs, err := filepath.Abs(folder)
		if err != nil {
			return Library{}, fmt.Errorf("-replace: %w", err)
		}
		text, err := os.ReadFile(filepath.Join(abs, "go.mod"))
		if err != nil {
			return Library{}, fmt.Errorf("-replace: %w; name the folder of a clone of the library", err)
		}
		if !strings.HasPrefix(string(text), "module "+release.Path+"\n") {
			return Library{}, fmt.Errorf("-replace: %s is no clone of %s", folder, release.Path)
		}
		return Library{Folder: abs}, nil
	}
	if version == "" {
		return Library{}, errors.New("this program was built in a clone, so it has no version that a project could require; " +
			"give -replace and the folder of the clone, or run a released one: go run " + release.Path +
			"/conformance/cmd/conform@latest new DIR -kind KIND")
	}
	return Library{Version: version}, nil
}

// requirement returns the line of go.mod that requires one of the library's modules, by
// its folder, and the line that replaces it, if any.
func (l Library) requirement(folder string) (require, replace string) {
	path, version := release.Path, l.Version
	if folder != "" {
		path += "/" + folder
	}
	if l.Folder == "" {
		return path + " " + version, ""
	}
	at := filepath.ToSlash(filepath.Join(l.Folder, filepath.FromSlash(folder)))
	if strings.ContainsAny(at, " \t\"'`") {
		at = fmt.Sprintf("%q", at)
	}
	return path + " v0.0.0", path + " => " + at
}
