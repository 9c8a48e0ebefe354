// Package discover describes tables: what the catalog says of them, samples and
// statistics of their values, and which keys hold.
package discover

import (
	"context"
	"fmt"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/request"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Discover describes every table that is served and that these credentials can
// read. Its warnings say what is left out, and why: tables, keys, samples and
// statistics. What one table costs changes nothing of what is said about others
// (see Options.Profile).
func Discover(ctx context.Context, s *session.Database, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	begun := time.Now()
	x, err := s.Open(ctx, req.Credentials, connector.Call{Method: "Discover"})
	if err != nil {
		return nil, err
	}
	d := &discovery{Session: x, creds: req.Credentials, listed: map[string]*discovered{}}
	cancel := func() {}
	defer func() {
		if d.Session != nil {
			d.Close()
		}
		cancel() // last: database/sql may drop the connection of a transaction whose context ends
	}()
	tables, warnings, err := x.ReadSchemas(ctx)
	if err != nil {
		return nil, s.Failure(ctx, err, "")
	}
	d.soon, cancel = beforeDeadline(ctx, begun, len(tables))
	d.warnings = warnings
	for _, t := range tables {
		public := s.Options.PublicTable(t.Name)
		if own, served := s.Options.InDatabase(public); served && own == t.Name {
			x.Known[t.Name] = t
			r := s.Relation(t, public, "t0")
			found := &discovered{r: r, table: describe(s, r), late: t.Late, doubts: doubts(s, t), first: -1}
			d.tables, d.listed[public] = append(d.tables, found), found
		}
	}
	var missing []string
	for _, name := range s.Options.Only {
		if public := s.Options.PublicTable(name); d.listed[public] == nil && !s.Options.Tables[name].Hidden {
			missing = append(missing, public)
		}
	}
	if len(missing) > 0 {
		d.warn("These tables are not in this database, or its user may not read them: %s.", session.TableNames(missing))
	}
	if audit := s.Flavor.Audit; audit != nil && (s.Options.Only == nil || len(d.tables) == 0) {
		for _, schema := range x.Schemas {
			missing, err := audit(ctx, x.Tx.Queryer, schema)
			if err != nil {
				return nil, s.Failure(ctx, err, "")
			}
			d.warnings = append(d.warnings, missing...)
		}
	}
	if err := d.profile(ctx); err != nil {
		return nil, err
	}
	d.keys()
	return d.answer(), nil
}

// discovery is one discovery in progress.
type discovery struct {
	*session.Session
	creds    wire.Credentials
	soon     context.Context // ends when there is just time to answer
	stale    bool            // the session must be replaced before it is used
	begun    time.Time       // of the transaction; zero: it must be replaced before it is used
	tables   []*discovered
	listed   map[string]*discovered // tables by their names
	warnings []string               // of the whole database
}

// discovered is a table of a discovery.
type discovered struct {
	r        *session.Relation
	table    *wire.Table
	tallies  map[*sqltext.Column]*request.Tally // of the columns that were counted
	doubts   []doubt                            // its foreign keys that rows may break
	warnings []string
	// unreadable are the columns with a value that their Decode fails at.
	unreadable []*sqltext.Column
	size       sizeClass
	first      int // rows that were read for samples; -1: none were read

	left       bool // out of the answer
	measured   bool
	slow       bool   // it has used up its time
	late       bool   // the request's time was over before its turn
	keyChecked bool   // checkKey has looked at the primary key
	keyBroken  string // why the primary key does not hold on the wire; empty: it does, as far as is known
}

func (d *discovery) warn(format string, args ...any) {
	d.warnings = append(d.warnings, fmt.Sprintf(format, args...))
}

// warn adds a warning about the table, whose quoted name is the first argument.
func (t *discovered) warn(format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, append([]any{terms.QuoteName(t.table.Name)}, args...)...))
}

// answer returns the tables that are not left out, and all warnings.
func (d *discovery) answer() *wire.Discovery {
	answer := &wire.Discovery{Tables: []wire.Table{}, Warnings: d.warnings}
	for _, t := range d.tables {
		answer.Warnings = append(answer.Warnings, t.warnings...)
		if !t.left {
			answer.Tables = append(answer.Tables, *t.table)
		}
	}
	return answer
}
