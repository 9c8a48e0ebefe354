package declared

import (
	"maps"
	"strings"
	"unicode"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Required returns the credential fields that must be given.
func (d *Document) Required() (list []wire.CredentialField) {
	for _, f := range d.CredentialSchema {
		if !f.Optional {
			list = append(list, f)
		}
	}
	return list
}

// Secrets returns the keys of the required credentials that the form hides.
func (d *Document) Secrets() (keys []string) {
	for _, f := range d.Required() {
		if f.Type != wire.CredentialText {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// Mistyped returns a set of credentials in each of whose secrets one character is another of its kind, so that their form
// is right. It returns nil if there is no secret that is surely wrong then.
func (d *Document) Mistyped(own map[string]string) map[string]string {
	set := maps.Clone(own)
	for _, key := range d.Secrets() {
		wrong := mistyped(own[key])
		if wrong == "" {
			return nil
		}
		set[key] = wrong
	}
	if maps.Equal(set, own) {
		return nil
	}
	return set
}

// MinSecret is the length of a secret from which another one is not met by chance.
const MinSecret = 8

// mistyped changes a character behind the third quarter of a secret. It returns "" for a short secret, for a document, which
// may say the same in other words, and for an address, which may lead elsewhere. What stands at the ends of a key
// is often its form: a prefix, or digits that check it; and a comparison that stops early stops before its end.
func mistyped(secret string) string {
	runes := []rune(secret)
	if len(runes) < MinSecret || strings.ContainsAny(secret, "@{") || strings.Contains(secret, "://") ||
		strings.ContainsFunc(secret, unicode.IsSpace) {
		return ""
	}
	for i := len(runes) * 3 / 4; i < len(runes); i++ {
		switch c := runes[i]; {
		case '0' < c && c <= '9', 'a' < c && c <= 'z', 'A' < c && c <= 'Z':
			runes[i]-- // hexadecimal digits stay such
		case c == '0', c == 'a', c == 'A':
			runes[i]++
		default:
			continue
		}
		return string(runes)
	}
	return ""
}
