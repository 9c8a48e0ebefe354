package duckdb

import (
	"maps"
	"os"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/memo"
)

// fingerprints are files by their paths, as they were when a request found them.
type fingerprints map[string]os.FileInfo

// changed reports whether one of the files is gone, or another one, or written to.
func (f fingerprints) changed() bool {
	for path, was := range f {
		if is, err := os.Lstat(path); err != nil || !memo.SameVersion(was, is) {
			return true
		}
	}
	return false
}

// fresh reports whether a Parquet file was just written to. What an engine, which keeps
// footers, reads of it from now on may be of another version of the same size and times.
func (f fingerprints) fresh(now time.Time) bool {
	for path, is := range f {
		if _, k := kindOf(path); k == kindParquet && !memo.Rested(is, now) {
			return true
		}
	}
	return false
}

// forgotten is how many files more than there are may be known.
const forgotten = 10_000

// learn adds files. It reports false, and adds nothing, if one of them is known as
// another version, or if most of those that are known are gone.
func (f fingerprints) learn(files fingerprints) bool {
	for path, is := range files {
		if was, known := f[path]; known && !memo.SameVersion(was, is) {
			return false
		}
	}
	if len(f) > len(files)+forgotten {
		return false
	}
	maps.Copy(f, files)
	return true
}
