package connector

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// form is the connect form of a connector: the credentials that a tenant types.
type form struct {
	fields []wire.CredentialField
	keys   []string
}

func newForm(fields []wire.CredentialField) form {
	f := form{fields: fields}
	for _, field := range fields {
		f.keys = append(f.keys, field.Key)
	}
	return f
}

// declared returns the credentials that the form has fields for.
func (f *form) declared(creds wire.Credentials) wire.Credentials { return creds.Only(f.keys...) }

// missing returns the first required field that has no value, or nil.
func (f *form) missing(creds wire.Credentials) *wire.CredentialField {
	for i, field := range f.fields {
		if !field.Optional && creds.Get(field.Key) == "" {
			return &f.fields[i]
		}
	}
	return nil
}

// hidden returns the credentials that are not shown even to the person who typed
// them: all except those of plain text fields.
func (f *form) hidden(creds wire.Credentials) wire.Credentials {
	keys := slices.DeleteFunc(creds.Keys(), func(key string) bool {
		return slices.ContainsFunc(f.fields, func(field wire.CredentialField) bool {
			return field.Key == key && field.Type == wire.CredentialText
		})
	})
	return creds.Only(keys...)
}
