package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// definition is what the methods of source cannot say. Keys are checked when
// a file is read but enforced by nothing when it is written, so keysEnforced
// stays false.
var definition = connector.Definition{
	Slug: "files",
	Credentials: []wire.CredentialField{
		{
			Key: credentialTenant, Label: "Tenant", Type: wire.CredentialText, Placeholder: "science",
			Help: "The name of your folder, as whoever hosts this connector gave it to you. Capital letters count.",
		},
		{
			Key: credentialPassword, Label: "Password", Type: wire.CredentialPassword, Optional: true,
			Help: "The password of your folder. Leave it empty when the folder has none.",
		},
	},
}

// source serves the folders of a root: one tenant each, one table per file.
// This file holds what every connector has, measures.go the optional routes.
//
// It pushes nothing down, because there is nothing below: each query reads its
// file from the start, row by row, and the SDK filters, sorts, cuts and
// projects.
type source struct {
	root    *root
	library *library
	log     *slog.Logger
}

// newSource serves r until life ends.
func newSource(life context.Context, r *root, log *slog.Logger) *source {
	return &source{root: r, library: newLibrary(life, r), log: log}
}

// enter opens the tenant's folder. The caller closes it.
func (s *source) enter(creds wire.Credentials) (*folder, error) {
	f, err := s.root.admit(creds)
	var refused *refusal
	if errors.As(err, &refused) {
		if refused.cause != nil {
			s.log.Warn("a tenant's folder cannot be entered", "cause", creds.Scrub(refused.cause.Error()))
		}
		// The SDK makes a bad_request of it on every route but /check (G8).
		return nil, connector.CheckFailed("%s", refusalText)
	}
	return f, err
}

// Check proves the tenant's name and password.
func (s *source) Check(_ context.Context, req *wire.CheckRequest) error {
	f, err := s.enter(req.Credentials)
	if err != nil {
		return err
	}
	return f.close()
}

// Discover describes every file of the folder. What cannot be served, and what
// a sidecar says that is not so, is a warning.
func (s *source) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	f, err := s.enter(req.Credentials)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }()
	return s.discover(ctx, f)
}

func (s *source) discover(ctx context.Context, f *folder) (*wire.Discovery, error) {
	listed, err := f.list()
	if err != nil {
		return nil, err
	}
	s.library.forget(f.name, listed.tables)
	answer := &wire.Discovery{Tables: []wire.Table{}, Warnings: listed.warnings}
	known := map[string]*description{}
	for _, t := range listed.tables {
		d, err := s.library.describe(ctx, f, t)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			answer.Warnings = append(answer.Warnings, fmt.Sprintf("%s is left out: %s", t.file, reason(err)))
		case d.fault != nil:
			answer.Warnings = append(answer.Warnings, fmt.Sprintf("%s; the file is left out", d.fault))
		default:
			known[t.table] = d
		}
	}
	for _, t := range listed.tables {
		d := known[t.table]
		if d == nil {
			continue
		}
		table := d.discovered()
		answer.Warnings = append(answer.Warnings, d.warnings...)
		var warnings []string
		table.ForeignKeys, warnings = s.library.foreignKeys(ctx, f.name, d, known)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		answer.Warnings = append(answer.Warnings, warnings...)
		answer.Tables = append(answer.Tables, table)
	}
	return answer, nil
}

// Describe is one table without its foreign keys: no route that the SDK guards
// by it looks at them, and to check them may take a reading of other files.
func (s *source) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
	f, err := s.enter(creds)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }()
	d, err := s.library.find(ctx, f, table)
	if err != nil {
		return nil, err
	}
	if err := servable(d, table); err != nil {
		return nil, err
	}
	described := d.discovered()
	return &described, nil
}

// servable answers unknown_entity for a table that is not there, or whose file
// is malformed.
func servable(d *description, table string) error {
	switch {
	case d == nil && len(table) > 64: // no more of a body than a name comes back
		return connector.UnknownEntity("there is no table of that name")
	case d == nil:
		return connector.UnknownEntity("there is no table %q", table)
	case d.fault != nil:
		return connector.UnknownEntity("there is no table %q: its file cannot be read: %s", table, d.fault)
	}
	return nil
}

// open opens the rows of a tenant's table. The caller closes them.
func (s *source) open(ctx context.Context, creds wire.Credentials, table string) (*openTable, error) {
	f, err := s.enter(creds)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }()
	d, opened, err := s.library.open(ctx, f, table)
	if err != nil {
		return nil, err
	}
	if err := servable(d, table); err != nil {
		return nil, err
	}
	return &openTable{description: d, file: opened}, nil
}

// openTable is a table whose file is open at the version described.
type openTable struct {
	*description
	file *file
}

func (t *openTable) close() { t.file.close() }

// wireColumns are the columns of its rows.
func (t *openTable) wireColumns() []wire.Column {
	columns := make([]wire.Column, len(t.columns))
	for i, c := range t.columns {
		columns[i] = wire.Column{Name: c.name, Type: c.typ}
	}
	return columns
}

// Query reads the file from its start, in constant memory.
func (s *source) Query(ctx context.Context, req *connector.QueryRequest, out *connector.Rows) error {
	t, err := s.open(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	defer t.close()
	w := out.Begin(t.wireColumns())
	return w.All(t.all(ctx, t.file))
}
