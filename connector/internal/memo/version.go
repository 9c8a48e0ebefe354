package memo

import (
	"io/fs"
	"os"
	"time"
)

// SameVersion reports whether both are the same file with the same content, as far as the
// file system can tell. Who copies a file over another may keep its size and its time of
// writing, and then only the time of its last change tells.
func SameVersion(a, b fs.FileInfo) bool {
	if a == nil || b == nil || a.Size() != b.Size() || a.Mode() != b.Mode() || !a.ModTime().Equal(b.ModTime()) {
		return false
	}
	if a.Sys() == nil || b.Sys() == nil { // an embedded file has no identity beyond its name
		return true
	}
	before, links := changeTime(a)
	now, linksNow := changeTime(b)
	// A file that got or lost a name has a new time of change, and its old content: so has
	// one that a reader has open while another is renamed over it.
	return os.SameFile(a, b) && (before.Equal(now) || links != linksNow)
}

// rest is how long a file must not have been written to before its size and times are
// trusted to show a change: a second write within one tick of the file system's clock
// leaves both as they were. FAT counts in steps of two seconds.
const rest = 2 * time.Second

// Rested reports whether a file that is read from now on shows every later change.
func Rested(info fs.FileInfo, now time.Time) bool {
	rested := now.Sub(info.ModTime())
	return rested >= rest || rested <= -rest // a time in the future would never rest
}
