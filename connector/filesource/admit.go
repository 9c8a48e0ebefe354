package filesource

import (
	"path/filepath"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Admit returns a function that admits tenants as the source that [Open] returns does,
// by their credentials and the files .password, for a source of other files: it returns
// the tenant's folder, or the answer for a stranger. The folder is one of its own and
// not a link; which links in it lead out of it is for the caller to see.
func Admit(dir string, opts *Options) (func(wire.Credentials) (folder string, err error), error) {
	opts, err := opts.checked()
	if err != nil {
		return nil, err
	}
	r, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	all := newSource(r, opts).tables
	return func(creds wire.Credentials) (string, error) {
		f, err := all.enter(creds)
		if err != nil {
			return "", err
		}
		return filepath.Join(dir, f.name), f.close()
	}, nil
}
