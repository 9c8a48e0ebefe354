package main

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tenant is a sub-folder of the data, as the host of the connector sees it.
type tenant struct {
	name      string
	protected bool // it has a password
	password  string
	tables    []string // the names of its files without their extensions
}

// credentials returns what the tenant enters at the platform.
func (t tenant) credentials() wire.Credentials {
	return wire.NewCredentials(map[string]string{
		filesource.CredentialTenant: t.name, filesource.CredentialPassword: t.password})
}

// tenantsIn lists the tenants of a folder by name. One whose folder cannot be read
// has no tables.
func tenantsIn(data fs.FS) (tenants []tenant, err error) {
	folders, err := fs.ReadDir(data, ".")
	for _, folder := range folders {
		name := folder.Name()
		if !folder.IsDir() || strings.HasPrefix(name, ".") || !utf8.ValidString(name) {
			continue
		}
		t := tenant{name: name}
		text, err := fs.ReadFile(data, path.Join(name, ".password"))
		t.protected, t.password = !errors.Is(err, fs.ErrNotExist), strings.TrimRight(string(text), "\r\n")
		files, _ := fs.ReadDir(data, name)
		for _, file := range files {
			ext := path.Ext(file.Name())
			if slices.Contains([]string{".csv", ".ndjson"}, strings.ToLower(ext)) && !strings.HasPrefix(file.Name(), ".") {
				t.tables = append(t.tables, strings.TrimSuffix(file.Name(), ext))
			}
		}
		tenants = append(tenants, t)
	}
	return tenants, err
}
