package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The credentials of a tenant.
const (
	credentialTenant   = "tenant"
	credentialPassword = "password"
)

// passwordFile holds a tenant's password. A folder without one is open to
// everybody who has the connector's token and knows its name.
const passwordFile = ".password"

// refusalText is the one answer to a wrong tenant and a wrong password.
const refusalText = "No tenant has this name and password. Check both; capital letters count."

// refusal turns a tenant away. Its text is the same for every cause; the cause
// is for the host's log, and only faults of the host's own folders have one.
type refusal struct{ cause error }

func (r *refusal) Error() string { return refusalText }

func (r *refusal) Unwrap() error { return r.cause }

// admit opens the folder that the credentials name, and answers a refusal when
// there is none or the password is not its own. The caller closes the folder.
//
// A name that is no tenant's goes the same way as one that is: some folder
// with a password is opened, its password read and compared. So neither the
// answer nor the time it takes tells a stranger which tenants exist.
func (r *root) admit(creds wire.Credentials) (*folder, error) {
	names, err := r.tenants()
	if err != nil {
		return nil, err
	}
	// The name typed is compared with the entries, byte for byte, and never
	// becomes part of a path. Whatever other spellings the file system takes
	// for the same folder (case, dots, slashes, normal forms) are no entries.
	name := creds.Get(credentialTenant)
	known := slices.Contains(names, name)
	if !known {
		if name = r.decoy.find(r, names); name == "" {
			return nil, &refusal{}
		}
	}
	f, err := r.enter(name)
	if err != nil {
		return nil, &refusal{fmt.Errorf("tenant folder %q: %w", name, err)}
	}
	right, err := f.passwordIs(creds.Get(credentialPassword))
	if known && right && err == nil {
		return f, nil
	}
	_ = f.close()
	if err != nil {
		err = fmt.Errorf("tenant folder %q: %s: %w", name, passwordFile, err)
	}
	return nil, &refusal{err}
}

// passwordIs reports whether the folder asks for no password, or for this one.
// It compares digests in constant time. A password file that cannot be read,
// or is empty, locks the folder: an error in it must not open the door.
func (f *folder) passwordIs(typed string) (bool, error) {
	// Lstat, because a link that leads nowhere is a password that cannot be
	// read and not an open door.
	if _, err := fs.Lstat(f.files, passwordFile); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	content, err := f.small(passwordFile, 4096)
	if err != nil {
		return false, err
	}
	password := strings.TrimRight(string(content), "\r\n")
	if password == "" {
		return false, errors.New("empty: nobody can enter; write a password into it or remove it")
	}
	want, got := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(typed))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1, nil
}

// decoy remembers the name of a tenant with a password, for strangers to be
// judged against.
type decoy struct{ name atomic.Pointer[string] }

// find is the decoy; "" when no folder has a password, so that there is no
// wrong password to tell a wrong tenant from.
func (d *decoy) find(r *root, names []string) string {
	if known := d.name.Load(); known != nil && slices.Contains(names, *known) {
		return *known
	}
	for _, name := range names {
		f, err := r.enter(name)
		if err != nil {
			continue
		}
		_, err = f.stat(passwordFile)
		_ = f.close()
		if err == nil {
			d.name.Store(&name)
			return name
		}
	}
	return ""
}
