package connector

import (
	"encoding/json"
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

// noText returns the first key of the form whose value in a body is no string, or "". Package
// wire knows no form, and names no key: any other than these may be a secret.
func (f *form) noText(body []byte) string {
	var sent struct {
		Credentials map[string]json.RawMessage `json:"credentials"`
	}
	if json.Unmarshal(body, &sent) != nil {
		return ""
	}
	for _, key := range f.keys {
		if raw, ok := sent.Credentials[key]; ok && raw[0] != '"' {
			return key
		}
	}
	return ""
}

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
