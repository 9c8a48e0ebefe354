package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// bundledPassword is the password of the bundled tenant "shop". The program
// prints it, and a test compares it with the file.
const bundledPassword = "demo-password"

// maxNames bounds the list of tenants that is printed.
const maxNames = 10

// welcome prints where the connector is, its token, its tenants, and requests
// that are ready to paste.
func welcome(
	ctx context.Context, out io.Writer, src *filesource.Source, tenants []tenant, c config, addr net.Addr,
) error {
	if len(tenants) == 0 {
		return errors.New("no tenants")
	}
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return err
	}
	url := "http://localhost:" + port
	served, token, bearer := c.dir, "$"+envToken, "$"+envToken
	if c.dir == "" {
		served = "the bundled data"
	}
	if c.minted != "" {
		token, bearer = fmt.Sprintf("%s (made for this run; set %s to keep one)", c.minted, envToken), c.minted
	}
	_, err = fmt.Fprintf(out, "Serving %s at %s\nToken: %s\nTenants: %s\n", served, url, token, list(tenants, c.dir == ""))
	if err != nil {
		return err
	}

	tenant := guest(tenants)
	credentials := map[string]string{filesource.CredentialTenant: tenant.name}
	var b strings.Builder
	switch {
	case !tenant.protected:
		b.WriteString("\nTry it:\n\n")
	case c.dir == "":
		credentials[filesource.CredentialPassword] = bundledPassword
		b.WriteString("\nTry it:\n\n")
	default:
		credentials[filesource.CredentialPassword] = passwordSlot
		fmt.Fprintf(&b, "\nTry it, with the password of %s in the variable TENANT_PASSWORD:\n\n", tenant.name)
	}
	post := func(path string, body map[string]any) {
		body["credentials"] = credentials
		body["timeoutMs"] = 60_000
		text, _ := json.Marshal(body) // strings and numbers only
		fmt.Fprintf(&b, "curl -sS %s%s -H \"Authorization: Bearer %s\" -d %s\n\n", url, path, bearer, shell(string(text)))
	}
	fmt.Fprintf(&b, "curl -sS %s%s\n\n", url, wire.PathDocument)
	post(wire.PathCheck, map[string]any{})
	post(wire.PathDiscovery, map[string]any{})
	if table, fields := firstTable(ctx, src, tenant); table != "" {
		post(wire.PathQuery, map[string]any{"table": table, "fields": fields, "and": []any{}, "sort": []any{}, "limit": 5})
	}
	_, err = io.WriteString(out, b.String())
	return err
}

// list names the tenants, and says which need a password.
func list(tenants []tenant, bundled bool) string {
	var names []string
	for i, t := range tenants {
		if i == maxNames {
			names = append(names, fmt.Sprintf("and %d more", len(tenants)-i))
			break
		}
		switch {
		case t.protected && bundled:
			t.name += " (password " + bundledPassword + ")"
		case t.protected:
			t.name += " (with a password)"
		}
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

// guest picks the tenant of the requests: the first that is printed and needs
// no password, else the first.
func guest(tenants []tenant) tenant {
	for _, t := range tenants[:min(len(tenants), maxNames)] {
		if !t.protected {
			return t
		}
	}
	return tenants[0]
}

// firstTable returns the tenant's first table that can be read, and some of its
// fields. It does not wait for a large file: a table without fields still
// answers empty rows.
func firstTable(ctx context.Context, src *filesource.Source, tenant tenant) (table string, fields []string) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for _, table := range tenant.tables {
		fields := []string{}
		described, err := src.Describe(ctx, tenant.credentials(), table)
		if err != nil && ctx.Err() == nil {
			continue // malformed
		}
		if err == nil {
			for _, f := range described.Fields[:min(len(described.Fields), 4)] {
				fields = append(fields, f.Name)
			}
		}
		return table, fields
	}
	return "", nil
}

// passwordSlot stands for a password that the shell fills in. No other string of
// a request is a NUL.
const passwordSlot = "\x00"

// shell quotes JSON text for a POSIX shell.
func shell(text string) string {
	text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	return strings.ReplaceAll(text, `"\u0000"`, `"'"$TENANT_PASSWORD"'"`)
}
