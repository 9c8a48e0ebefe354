package sqlsource

import (
	"context"
	"fmt"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Discover describes every table that is served and that these credentials can
// read. Its warnings say what is left out, and why: tables, keys, samples and
// statistics. What one table costs changes nothing of what is said about others
// (see Options.Profile).
func Discover(ctx context.Context, s *database, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	x, err := s.open(ctx, req.Credentials, connector.Call{Method: "Discover"})
	if err != nil {
		return nil, err
	}
	soon, cancel := beforeDeadline(ctx)
	defer cancel()
	d := &discovery{session: x, creds: req.Credentials, soon: soon, listed: map[string]*discovered{}}
	defer func() {
		if d.session != nil {
			d.close()
		}
	}()
	tables, warnings, err := x.readSchemas(ctx)
	if err != nil {
		return nil, s.failure(ctx, err, "")
	}
	d.warnings = warnings
	for _, t := range tables {
		public := s.options.publicTable(t.Name)
		if own, served := s.options.inDatabase(public); served && own == t.Name {
			x.known[t.Name] = t
			r := s.relation(t, public, "t0")
			found := &discovered{r: r, table: s.describe(r), late: t.Late, doubts: s.doubts(t), first: -1}
			d.tables, d.listed[public] = append(d.tables, found), found
		}
	}
	var missing []string
	for _, name := range s.options.only {
		if public := s.options.publicTable(name); d.listed[public] == nil && !s.options.tables[name].Hidden {
			missing = append(missing, public)
		}
	}
	if len(missing) > 0 {
		d.warn("These tables are not in this database, or its user may not read them: %s.", tableNames(missing))
	}
	if audit := s.capabilities.Audit; audit != nil && (s.options.only == nil || len(d.tables) == 0) {
		for _, schema := range x.schemas {
			missing, err := audit(ctx, x.tx.Queryer, schema)
			if err != nil {
				return nil, s.failure(ctx, err, "")
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
	*session
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
	r        *relation
	table    *wire.Table
	tallies  map[*column]*tally // of the columns that were counted
	doubts   []doubt            // its foreign keys that rows may break
	warnings []string
	size     sizeClass
	first    int // rows that were read for samples; -1: none were read

	left       bool // out of the answer
	measured   bool
	slow       bool // it has used up its time
	late       bool // the request's time was over before its turn
	keyChecked bool // the primary key of a table that is not counted
	keyBroken  bool // the primary key has a null on the wire
}

func (d *discovery) warn(format string, args ...any) {
	d.warnings = append(d.warnings, fmt.Sprintf(format, args...))
}

// warn adds a warning about the table, whose quoted name is the first argument.
func (t *discovered) warn(format string, args ...any) {
	t.warnings = append(t.warnings, fmt.Sprintf(format, append([]any{wire.QuoteName(t.table.Name)}, args...)...))
}

// warnedNames is how many tables a warning names.
const warnedNames = 10

// tableNames returns names as a warning lists them: the first, and how many others.
func tableNames(names []string) string {
	if len(names) <= warnedNames {
		return quotedNames(names)
	}
	return fmt.Sprintf("%s and %d more", quotedNames(names[:warnedNames]), len(names)-warnedNames)
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
