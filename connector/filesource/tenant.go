package filesource

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The keys of the credentials.
const (
	CredentialTenant   = "tenant"
	CredentialPassword = "password"
)

// Credentials returns the fields of the connect form: the tenant's name and an
// optional password. Put them into the connector's definition.
func Credentials() []wire.CredentialField {
	return []wire.CredentialField{
		{
			Key:         CredentialTenant,
			Label:       "Tenant",
			Type:        wire.CredentialText,
			Placeholder: "science",
			Help:        "The name of your folder, as whoever hosts this connector gave it to you. Capital letters count.",
		},
		{
			Key:      CredentialPassword,
			Label:    "Password",
			Type:     wire.CredentialPassword,
			Optional: true,
			Help:     "The password of your folder. Leave it empty when the folder has none.",
		},
	}
}

// passwordFile holds a tenant's password. A folder without one is open to
// everybody who has the connector's token and knows the folder's name.
const passwordFile = ".password"

// refusalText answers a wrong tenant and a wrong password alike.
const refusalText = "No tenant has this name and password. Check both; capital letters count."

// A refusal turns a tenant away. Its text is the same for every cause. The cause
// is for the host's log; only faults of the host's own folders have one.
type refusal struct{ cause error }

func (r *refusal) Error() string { return refusalText }

func (r *refusal) Unwrap() error { return r.cause }

// admit opens the folder that the credentials name. It fails with a refusal if the
// name or the password is wrong, and with another error if the host cannot tell. The
// caller closes the folder.
//
// For an unknown name it does the same work as for a known one: it opens some
// folder that has a password, and compares that. So neither the answer nor the
// time it takes tells a stranger which tenants exist.
func (r *root) admit(creds wire.Credentials) (*folder, error) {
	names, err := r.tenants()
	if err != nil {
		return nil, err
	}
	// The name is compared with the entries, byte for byte, and never becomes
	// part of a path. Other spellings that the file system takes for the same
	// folder (case, dots, slashes, normal forms) are no entries.
	name := creds.Get(CredentialTenant)
	known := slices.Contains(names, name)
	if !known {
		if name, err = r.decoy.find(r, names); err != nil {
			return nil, err
		}
		if name == "" {
			return nil, &refusal{}
		}
	}
	f, err := r.enter(name)
	if err != nil {
		return nil, r.turnAway(fmt.Errorf("tenant folder %q: %w", name, err))
	}
	right, err := f.passwordIs(creds.Get(CredentialPassword))
	if known && right && err == nil {
		return f, nil
	}
	_ = f.close()
	if err != nil {
		return nil, r.turnAway(fmt.Errorf("tenant folder %q: %s: %w", name, passwordFile, err))
	}
	return nil, &refusal{}
}

// turnAway returns the refusal for what is wrong with a tenant's folder, and the error
// itself if it is a fault of the host: then nobody knows whether the password is right.
func (r *root) turnAway(err error) error {
	if passing(err) || errors.Is(err, errNotItsOwn) || leadsNowhere(err, r.escape) {
		return &refusal{err}
	}
	return err
}

// passwordIs reports whether the folder needs no password, or this one. It
// compares digests in constant time. A password file that cannot be read, or is
// empty, locks the folder: a mistake in it must not open the door. It uses Lstat,
// because a link that leads nowhere is a password that cannot be read.
func (f *folder) passwordIs(typed string) (bool, error) {
	if _, err := fs.Lstat(f.files, passwordFile); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	content, err := f.small(passwordFile, 4096)
	if err != nil {
		return false, err
	}
	password := strings.TrimRight(string(content), "\r\n")
	if password == "" {
		return false, &textfile.Fault{File: passwordFile, Problem: "empty: nobody can enter; write a password into it or remove it"}
	}
	want, got := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(typed))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1, nil
}

// decoy remembers the name of a tenant with a password. Strangers are compared
// with it.
type decoy struct{ name atomic.Pointer[string] }

// find returns the decoy, or "" if no folder has a password: then there is no
// wrong password from which a wrong tenant could differ. A folder that the connector may
// not enter counts as none; by any other fault of the host nobody can tell.
func (d *decoy) find(r *root, names []string) (string, error) {
	if known := d.name.Load(); known != nil && slices.Contains(names, *known) {
		return *known, nil
	}
	for _, name := range names {
		f, err := r.enter(name)
		if err == nil {
			_, err = f.stat(passwordFile)
			_ = f.close()
		}
		var refused *refusal
		switch {
		case err == nil:
			d.name.Store(&name)
			return name, nil
		case errors.Is(err, fs.ErrPermission), errors.As(r.turnAway(err), &refused):
		default:
			return "", fmt.Errorf("tenant folder %q: %w", name, err)
		}
	}
	return "", nil
}
