package killtest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ownerOf returns whose password a set has, or -1.
func ownerOf(set map[string]string) int {
	return slices.IndexFunc(hostSets, func(own map[string]string) bool { return own["password"] == set["password"] })
}

// branched returns a sharedHost whose form has an optional branch, which tells the customers apart.
func branched(pick func(set map[string]string) int) http.Handler {
	f := sharedHostOf(connector.Definition{Credentials: []wire.CredentialField{
		{Key: "tenant", Label: "Branch", Type: wire.CredentialText, Optional: true},
		{Key: "password", Label: "Key", Type: wire.CredentialPassword},
	}}, hostTables())
	f.pick = func(_ *http.Request, set map[string]string) int { return pick(set) }
	return f
}

// anyKnownKey lets in who has a password of anybody, and takes the branch as it is named.
func anyKnownKey(set map[string]string) int {
	if branch := tenantNamed(set); ownerOf(set) < 0 || branch >= 0 {
		return min(branch, ownerOf(set))
	}
	return ownerOf(set)
}

// anyKey answers everybody who has any key with the first customer's data.
func anyKey(_ *http.Request, set map[string]string) int { return min(0, len(set["password"])-1) }

// credentialFaults returns connectors that show to a mistyped secret, or to the credentials of two tenants mixed.
func credentialFaults() []fault {
	checking := func(name string, options func(*grading), accepts func(set map[string]string) bool) fault {
		return broken(name, "the check makes the cheapest call that proves the credentials", "P1.7b",
			picking(func(r *http.Request, set map[string]string) int {
				if r.URL.Path == wire.PathCheck && accepts(set) {
					return max(known(set), 0)
				}
				return known(set)
			})).graded(options).accepted("an answer of /check is well formed, whatever it rests on")
	}
	serving := func(name string, options func(*grading), build func() http.Handler) fault {
		return broken(name, servedToNobodyElse, "T7", build).graded(options)
	}
	form := regexp.MustCompile(`^[a-z]+-[a-z]+-[a-z]+-\d$`)
	return []fault{
		checking("a check takes any password of the right form", apart, func(set map[string]string) bool {
			return form.MatchString(set["password"])
		}),
		checking("a check looks at the beginning of the password", alone, func(set map[string]string) bool {
			return strings.HasPrefix(set["password"], hostSets[0]["password"][:8])
		}),
		checking("a check that cannot tell", apart, func(set map[string]string) bool { return len(set) == 2 }),
		serving("any known key is let in, and the branch picks the data", apart, func() http.Handler { return branched(anyKnownKey) }),
		serving("aggregates are those of the account that is named", apart, picking(func(r *http.Request, set map[string]string) int {
			if owner := ownerOf(set); owner < 0 || r.URL.Path != wire.PathAggregate || set["tenant"] == "" {
				return owner
			}
			return tenantNamed(set)
		})),
		serving("only the check looks at the password", alone, picking(func(r *http.Request, set map[string]string) int {
			if r.URL.Path == wire.PathQuery && set["password"] != "" {
				return tenantNamed(set)
			}
			return known(set)
		})),
	}
}

// TestKeysOfOneCustomer requires that two keys that both open two branches fail as a leak would, since nothing tells
// them from one, unless the caller says that both are of one customer.
func TestKeysOfOneCustomer(t *testing.T) {
	t.Parallel()
	for _, alike := range []bool{false, true} {
		g := with(apart)
		g.Match, g.Alike = `^T7$`, alike
		r := grade(t, branched(anyKnownKey), g)
		r.has(t, map[bool]conformance.Verdict{false: conformance.Fail, true: conformance.Pass}[alike], "T7")
		require.Contains(t, r.Outcome("T7").Fix, "-alike")
	}
}

// TestPublicData requires that a key which means nothing fails nothing with one account: whoever has another key may
// have a right to the same data.
func TestPublicData(t *testing.T) {
	t.Parallel()
	r := grade(t, picking(anyKey)(), with(alone, matching(`^(P1\.7b|T)`)))
	require.NoError(t, r.Err())
	r.has(t, conformance.Pass, "T7")
	require.Equal(t, conformance.NoData, r.Outcome("P1.7b").Reason)
}

// TestUntriedCredentials requires that a verdict says which wrong credentials it does not rest on.
func TestUntriedCredentials(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	named := hostDefinition
	named.Credentials = named.Credentials[:1]
	for _, c := range []struct {
		says    string
		build   func() http.Handler
		options func(*grading)
	}{
		{"; of wrong credentials few were tried (-wrong-credentials)", over(newSharedHost), alone},
		{"; a mistyped secret opens /check and /query as the right one does, which may be meant", picking(anyKey), alone},
		{"; wrong credentials were not tried (-wrong-credentials)", func() http.Handler { return sharedHostOf(named, hostTables()) }, alone},
		{"", over(newSharedHost), func(g *grading) { alone(g); g.WrongCredentials = true }},
	} {
		r := grade(t, c.build(), with(c.options))
		if c.says == "" {
			require.NotContains(t, r.Verdict(), "wrong")
		}
		require.True(t, strings.HasSuffix(r.Verdict(), c.says), r.Verdict())
	}
}
