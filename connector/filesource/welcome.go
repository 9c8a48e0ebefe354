package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// survey describes all tables of all tenants, so that the first requests need
// not wait, and tells the host's log what is wrong with them.
func (s *source) survey(ctx context.Context) {
	names, err := s.root.tenants()
	if err != nil {
		s.log.Error("the folder cannot be read", "cause", err)
		return
	}
	for _, name := range names {
		f, err := s.root.enter(name)
		if err != nil {
			s.log.Warn("a tenant's folder cannot be entered", "tenant", name, "cause", reason(err))
			continue
		}
		found, err := s.discover(ctx, f)
		_ = f.close()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.log.Warn("a tenant's folder cannot be read", "tenant", name, "cause", reason(err))
			continue
		}
		for _, w := range found.Warnings {
			s.log.Warn("a discovery warning", "tenant", name, "warning", w)
		}
	}
}

// guest is the tenant whose requests are printed, and what they need.
type guest struct {
	tenant   string
	password string // "": none needed; passwordSlot: the host's own, which is not printed
	table    string
	fields   []string
}

// mostNames bounds the lists that are printed.
const mostNames = 10

// welcome prints where the connector is, its token, its tenants, and requests
// that are ready to paste.
func (s *source) welcome(ctx context.Context, out io.Writer, c config, addr net.Addr) error {
	names, err := s.root.tenants()
	if err != nil {
		return err
	}
	var b strings.Builder
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return err
	}
	url := "http://localhost:" + port
	served := "the bundled data"
	if c.dir != "" {
		served = c.dir
	}
	fmt.Fprintf(&b, "Serving %s at %s\n", served, url)
	bearer := `"Authorization: Bearer $` + envToken + `"`
	if c.minted == "" {
		fmt.Fprintf(&b, "Token: $%s\n", envToken)
	} else {
		fmt.Fprintf(&b, "Token: %s (made for this run; set %s to keep one)\n", c.minted, envToken)
		bearer = `"Authorization: Bearer ` + c.minted + `"`
	}
	fmt.Fprintf(&b, "Tenants: %s\n", s.list(names, c.dir == ""))

	if _, err := io.WriteString(out, b.String()); err != nil {
		return err
	}
	b.Reset()

	g := s.guest(ctx, names, c.dir == "")
	post := func(path, body string) {
		fmt.Fprintf(&b, "curl -sS %s%s -H %s -d %s\n\n", url, path, bearer, body)
	}
	if g.password == passwordSlot {
		fmt.Fprintf(&b, "\nTry it, with the password of %s in the variable TENANT_PASSWORD:\n\n", g.tenant)
	} else {
		b.WriteString("\nTry it:\n\n")
	}
	fmt.Fprintf(&b, "curl -sS %s%s\n\n", url, wire.PathDocument)
	creds := `"credentials":` + g.credentials()
	post(wire.PathCheck, shell(`{`+creds+`,"timeoutMs":10000}`))
	post(wire.PathDiscovery, shell(`{`+creds+`,"timeoutMs":60000}`))
	if g.table != "" {
		post(wire.PathQuery, shell(`{"table":`+quoted(g.table)+`,"and":[],"sort":[],"fields":[`+strings.Join(g.fields, ",")+
			`],"limit":5,`+creds+`,"timeoutMs":60000}`))
	}
	_, err = io.WriteString(out, b.String())
	return err
}

// list names the tenants, and whether each needs a password.
func (s *source) list(names []string, bundled bool) string {
	var list []string
	for i, name := range names {
		if i == mostNames {
			list = append(list, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		switch {
		case !s.protected(name):
		case bundled:
			name += " (password " + bundledPassword + ")"
		default:
			name += " (with a password)"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// protected reports whether a tenant needs a password.
func (s *source) protected(name string) bool {
	f, err := s.root.enter(name)
	if err != nil {
		return true
	}
	defer func() { _ = f.close() }()
	_, err = fs.Lstat(f.files, passwordFile)
	return !errors.Is(err, fs.ErrNotExist)
}

// guest picks a tenant without a password if there is one, and a table of its.
func (s *source) guest(ctx context.Context, names []string, bundled bool) guest {
	g := guest{tenant: names[0]}
	open := false
	for _, name := range names[:min(len(names), mostNames)] {
		if open = !s.protected(name); open {
			g.tenant = name
			break
		}
	}
	switch {
	case open:
	case bundled:
		g.password = bundledPassword
	default:
		g.password = passwordSlot
	}
	f, err := s.root.enter(g.tenant)
	if err != nil {
		return g
	}
	defer func() { _ = f.close() }()
	listed, err := f.list()
	if err != nil {
		return g
	}
	// A large file takes a while to describe; the lines are wanted now.
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for _, t := range listed.tables {
		d, err := s.library.describe(ctx, f, t)
		if err == nil && d.fault == nil {
			g.table = t.table
			for _, c := range d.columns[:min(len(d.columns), 4)] {
				g.fields = append(g.fields, quoted(c.name))
			}
			return g
		}
		if ctx.Err() != nil {
			g.table = t.table // without fields: as many empty rows as it has
			return g
		}
	}
	return g
}

// credentials are the guest's as JSON.
func (g guest) credentials() string {
	creds := `{` + quoted(credentialTenant) + `:` + quoted(g.tenant)
	if g.password != "" {
		creds += `,` + quoted(credentialPassword) + `:"` + g.password + `"` // neither needs an escape
	}
	return creds + `}`
}

// quoted is a JSON string.
func quoted(s string) string {
	b, err := jsontext.AppendString(nil, strings.ToValidUTF8(s, "\ufffd"))
	if err != nil {
		return `""`
	}
	return string(b)
}

// passwordSlot stands for a password that the shell is to fill in. No JSON text
// has a NUL in it.
const passwordSlot = "\x00"

// shell quotes a text for a POSIX shell.
func shell(text string) string {
	text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	return strings.ReplaceAll(text, passwordSlot, `'"$TENANT_PASSWORD"'`)
}
