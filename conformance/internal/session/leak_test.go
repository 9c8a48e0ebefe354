package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecretSpellings looks for a secret in every encoding.
func TestSecretSpellings(t *testing.T) {
	secret := `p+ss/"w0rd" & more`
	all := spellings(secret)
	for _, text := range []string{
		`the password is p+ss/"w0rd" & more!`, `{"echo":"p+ss/\"w0rd\" & more"}`, "?pw=p%2Bss%2F%22w0rd%22+%26+more", "/p+ss%2F%22w0rd%22%20&%20more/",
		"702b73732f227730726422202620" + "6d6f7265", "Basic " + "cCtzcy8idzByZCIgJiBtb3Jl",
	} {
		found := false
		for _, s := range all {
			found = found || strings.Contains(text, string(s))
		}
		require.True(t, found, "%s in %q", text, all)
	}
}
