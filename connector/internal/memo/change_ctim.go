//go:build linux || freebsd || openbsd || dragonfly || solaris

package memo

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when a file, or what the system knows of it, was last changed, and
// how many names it has. Both are zero where the system does not say.
func changeTime(info fs.FileInfo) (at time.Time, links uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return at, 0
	}
	return time.Unix(s.Ctim.Unix()), uint64(s.Nlink) // which has other sizes on other systems
}
