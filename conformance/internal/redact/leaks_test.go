package redact

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSecretDisguises looks for a secret in every encoding.
func TestSecretDisguises(t *testing.T) {
	document := &wire.Document{CredentialSchema: []wire.CredentialField{{Key: "pw", Label: "Password", Type: wire.CredentialPassword}}}
	tenant := Tenant{Credentials: wire.NewCredentials(map[string]string{"pw": `P+ss/"w0rd" & more`})}
	leak := Leaks(strings.Repeat("t0ken-", 6), []Tenant{tenant}, document)
	for _, text := range []string{
		`the password is P+ss/"w0rd" & more!`, `{"echo":"P+ss/\"w0rd\" & more"}`, "?pw=P%2Bss%2F%22w0rd%22+%26+more",
		"/P+ss%2F%22w0rd%22%20&%20more/", "502b73732f22773072642220262" + "06d6f7265", "Basic UCtzcy8idzByZCIgJiBtb3Jl",
		`p+SS/"W0RD" & MORE`, `erom & "dr0w"/ss+P`, "Basic dXNlcjpQK3NzLyJ3MHJkIiAmIG1vcmU=",
	} {
		require.NotNil(t, leak([]byte(text)), "%s", text)
		require.NotNil(t, leak([]byte(text)), "again: %s", text)
	}
	require.Nil(t, leak([]byte(`the password is wrong`)))
}

// TestSecretsAfterMany looks for secrets among more texts than are remembered.
func TestSecretsAfterMany(t *testing.T) {
	token := strings.Repeat("t0ken-", 6)
	leak := Leaks(token, nil, nil)
	for i := range 100_000 {
		require.Nil(t, leak([]byte(strconv.Itoa(i))))
	}
	for i := range 100 {
		require.NotNil(t, leak([]byte(token+strconv.Itoa(i))))
	}
}

// TestSecretsByChance requires that a credential which is an ordinary word is not
// looked for.
func TestSecretsByChance(t *testing.T) {
	for value, chance := range map[string]bool{
		"password": true, "secret": true, "Read-only key": true,
		"hunter2-hunter2": false, "PaSsWoRd": false, "correcthorsebatterystaple": false,
	} {
		require.Equal(t, chance, byChance(value, `{"help":"Create a read-only key in the console."}`), "%s", value)
	}
}
