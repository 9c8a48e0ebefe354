package tenants

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/redact"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// impostor is a set of credentials that is close to a tenant's own and is not it.
type impostor struct {
	what string
	set  map[string]string
	// others marks a set with the secret of the other tenant, whose data it may give.
	others bool
	// unless is a set that tells nothing if it gives the same: then the changed credential has no meaning. May be nil.
	unless map[string]string
	// close marks a set whose secret differs little from the tenant's. It is sent to /query alone:
	// what compares secrets is hardly another thing on another route, and accounts get locked.
	close bool
	// onlyApart marks a set that may give the tenant's rows if the data do not depend
	// on the credentials at all: it has every secret, or no secret exists.
	onlyApart bool
	// once marks a set that is not sent again after it was refused, because accounts get locked.
	once, refused bool
}

// incomplete returns sets that lack what the document requires. Sending them harms no account.
func incomplete(run *pairRun, tenant int) (list []impostor) {
	own, hidden := run.Tenants[tenant].Credentials.Reveal(), run.Document.Secrets()
	if len(own) > 0 {
		list = append(list, impostor{what: "no credentials at all", set: map[string]string{}, onlyApart: len(hidden) == 0})
	}
	for _, key := range hidden {
		if len(own) > 1 && own[key] != "" {
			set := maps.Clone(own)
			delete(set, key)
			list = append(list, impostor{what: "credentials without " + terms.QuoteName(key), set: set})
		}
	}
	return list
}

// wrong returns sets that name a tenant and do not have the tenant's secrets, or have
// them and name the tenant by a path. Real accounts may be locked because of them.
func wrong(run *pairRun, tenant int) (list []impostor) {
	own, hidden := run.Tenants[tenant].Credentials.Reveal(), run.Document.Secrets()
	add := func(what string, others bool, change map[string]string) {
		set := maps.Clone(own)
		maps.Copy(set, change)
		if run.isTenants(set) {
			return // it is not wrong
		}
		list = append(list, impostor{what: what, set: set, others: others})
	}
	secret := func(value func(key string) string) map[string]string {
		set := map[string]string{}
		for _, key := range hidden {
			set[key] = value(key)
		}
		return set
	}
	add("a wrong secret", false, secret(func(string) string { return payload.WrongCredential }))
	add("a blank secret", false, secret(func(string) string { return "" }))
	for other, t := range run.Tenants {
		add("the secret of the "+phrase.Ordinal(other)+" tenant", true, secret(t.Credentials.Get))
	}
	for _, f := range run.Document.CredentialSchema {
		name := own[f.Key]
		if f.Type != wire.CredentialText || name == "" || strings.ContainsAny(name, "/.:@") {
			continue
		}
		from := len(list)
		add("a path as "+terms.QuoteName(f.Key), false, map[string]string{f.Key: name + "/../" + name})
		for other := range run.Tenants {
			if of := run.Tenants[other].Credentials; other != tenant && of.Get(f.Key) != "" {
				path := secret(of.Get)
				path[f.Key] = of.Get(f.Key) + "/../" + name
				add("a path as "+terms.QuoteName(f.Key)+" and the secret of the other tenant", true, path)
			}
		}
		for i := range list[from:] {
			list[from+i].unless = maps.Clone(list[from+i].set)
			list[from+i].unless[f.Key] = payload.WrongCredential
		}
	}
	return append(list, similar(own, hidden)...)
}

// mistaken returns the sets that need no leave, because each is sent until it is refused once, as somebody does who
// mistypes: one with mistyped secrets, and one with the secrets of the other tenant. A mistyped set may be right
// where the data do not depend on the credentials. The other tenant's secrets go to no other address, and they
// are not mixed with an optional one of the tenant's, which may be enough.
func mistaken(run *pairRun, tenant int) (list []impostor) {
	own := run.Tenants[tenant].Credentials.Reveal()
	if set := run.Mistyped(tenant); set != nil && !run.isTenants(set) {
		list = append(list, impostor{what: "a mistyped secret", set: set, onlyApart: true, once: true})
	}
	if len(run.Tenants) < 2 || run.Alike {
		return list
	}
	others, set := run.Tenants[1-tenant].Credentials, maps.Clone(own)
	for _, f := range run.Document.CredentialSchema {
		switch {
		case f.Type == wire.CredentialText && own[f.Key] != others.Get(f.Key) && isAddress(own[f.Key]),
			f.Type != wire.CredentialText && f.Optional && own[f.Key] != "":
			return list
		case f.Type != wire.CredentialText && !f.Optional:
			set[f.Key] = others.Get(f.Key)
		}
	}
	if !run.isTenants(set) {
		list = append(list, impostor{what: "the secret of the " + phrase.Ordinal(1-tenant) + " tenant", set: set, others: true, once: true})
	}
	return list
}

// isTenants reports whether a set is that of a tenant.
func (run *pairRun) isTenants(set map[string]string) bool {
	return slices.ContainsFunc(run.Tenants, func(t redact.Tenant) bool { return maps.Equal(set, t.Credentials.Reveal()) })
}

// isAddress reports whether a credential may say where the source is.
func isAddress(value string) bool {
	return strings.ContainsAny(value, "/:") || strings.Contains(value, ".") && !strings.Contains(value, "@")
}

// similar returns sets in each of which one secret differs little from the tenant's, as those do that a comparison of a
// part, of prefixes or without regard to case takes for equal. A secret that may be anything tells nothing, and so does
// a blank behind it where one in front is taken too: blanks are pasted with a secret, and may be removed.
func similar(own map[string]string, hidden []string) (list []impostor) {
	for _, key := range hidden {
		secret := []rune(own[key])
		if len(secret) < declared.MinSecret || strings.ContainsFunc(own[key], unicode.IsSpace) {
			continue // blanks and line ends: a document, such as a key file, which may be spelled in several ways
		}
		with := func(value string) map[string]string {
			set := maps.Clone(own)
			set[key] = value
			return set
		}
		add := func(what, value, unless string) {
			if value != own[key] {
				list = append(list, impostor{what: what, set: with(value), unless: with(unless), close: true})
			}
		}
		name, last, half := terms.QuoteName(key), len(secret)-1, len(secret)/2
		anything := payload.WrongCredential
		add("another end of "+name, string(secret[:last])+other(secret[last]), anything)
		add("another beginning of "+name, other(secret[0])+string(secret[1:]), anything)
		add("the first half of "+name, string(secret[:half]), anything)
		add("the second half of "+name, string(secret[half:]), anything)
		add(name+" and one character more", own[key]+"x", anything)
		add(name+" behind another character", "x"+own[key], anything)
		if strings.Trim(own[key], "0123456789abcdefABCDEF-") != "" { // digits of a number have no case
			add(name+" in lower case", strings.ToLower(own[key]), anything)
			add(name+" in upper case", strings.ToUpper(own[key]), anything)
		}
		add(name+" and a blank behind it", own[key]+" ", " "+own[key])
	}
	return list
}

// other returns a character that is not c.
func other(c rune) string {
	if c == 'x' {
		return "y"
	}
	return "x"
}
