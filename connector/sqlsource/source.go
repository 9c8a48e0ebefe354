package sqlsource

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source serves a database: every optional route and flag of the protocol but a
// dialect. It keeps nothing between calls, unless the database is the host's
// own: no connection, and no description (Config.Remember), so a table that is
// made, changed or dropped is so for the next request. It is safe for
// concurrent use.
type Source struct {
	config Config
	memory memory
}

var (
	_ connector.Source              = (*Source)(nil)
	_ connector.Describer           = (*Source)(nil)
	_ connector.Sizer               = (*Source)(nil)
	_ connector.Counter             = (*Source)(nil)
	_ connector.Aggregator          = (*Source)(nil)
	_ connector.DateAggregator      = (*Source)(nil)
	_ connector.CardinalityMeasurer = (*Source)(nil)
	_ connector.LinkMeasurer        = (*Source)(nil)
	_ connector.Joiner              = (*Source)(nil)
)

// New makes a source of a database. It fails with every fault of the
// configuration at once; it does not connect.
func New(config Config) (*Source, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	if config.Profile == 0 {
		config.Profile = defaultProfile
	}
	return &Source{config: config}, nil
}

// Check connects, which proves the credentials.
func (s *Source) Check(ctx context.Context, req *wire.CheckRequest) error {
	x, err := s.open(ctx, req.Credentials)
	if err != nil {
		return err
	}
	defer x.close()
	// Some engines look at the file, or at the user's rights, only now.
	_, _, err = s.config.Flavor.Catalog(ctx, x.tx, s.config.Schema, []string{""})
	return s.failure(ctx, err, "")
}

// Describe is one table as Discover lists it, without samples and statistics.
func (s *Source) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
	x, err := s.open(ctx, creds)
	if err != nil {
		return nil, err
	}
	defer x.close()
	r, err := x.one(ctx, table)
	if err != nil {
		return nil, err
	}
	return s.describe(r), nil
}
