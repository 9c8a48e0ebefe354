package filesource

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
)

// passing reports whether an error says something of the tenant's files: that one is
// malformed, is written to, or is gone. Every other error is a fault of the host, such as
// a disk that fails or too many open files. It says nothing of the files, so an answer
// that went on without them would be untrue [rule error-10].
func passing(err error) bool {
	var found *textfile.Fault
	return errors.As(err, &found) || errors.Is(err, errChanged) || errors.Is(err, fs.ErrNotExist)
}

// leadsNowhere reports whether the error about a link is the link's own. escape is the
// error for one that leads out of the folder.
func leadsNowhere(err, escape error) bool {
	for _, own := range []error{fs.ErrNotExist, escape, syscall.ELOOP, syscall.ENOTDIR, syscall.ENAMETOOLONG} {
		if own != nil && errors.Is(err, own) {
			return true
		}
	}
	return false
}

// pathCause returns what is wrong with a path, without the path.
func pathCause(err error) error {
	var where *fs.PathError
	if errors.As(err, &where) {
		return where.Err
	}
	return err
}
