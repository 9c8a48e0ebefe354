package platform

import (
	"cmp"
	"context"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ConnectionOptions bound what a Connection takes on. nil means the defaults.
type ConnectionOptions struct {
	// Reach is the number of rows that one query can reach. The protocol does
	// not state the platform's; 0 is 1,000,000.
	Reach int64
	// Budget is the number of bytes that one question may keep in memory, for
	// rows to sort, joined tables, groups and distinct values. 0 is
	// 256 MiB, and a negative number is no limit.
	Budget int64
	// DiscoverOnly ends Connect after discovery, for a program that knows what it will ask.
	DiscoverOnly bool
	// Progress, if set, is called while Connect works: with nil once the tables are
	// discovered and the connection can be asked, then with each preview as it comes. The
	// calls come one after the other. It must return quickly.
	Progress func(*Connection, *Preview)
}

// Connection is a connector as one tenant sees it: its document, its tables, and
// the answers to questions about them. What the connector does not do is
// finished here, so an answer is complete however little the connector declares.
//
// A Connection asks only for what the document declares, and keeps to its limits.
// It may be used concurrently; questions that exceed limits.concurrency wait.
type Connection struct {
	Document *wire.Document
	Tables   []wire.Table
	Warnings []string // of discovery
	// Notes say where discovery contradicts itself and the tables can be read nevertheless: foreign keys that
	// lead to a table that it does not list.
	Notes []string
	// Previews are those of the tables, in the same order, once Connect has returned. A
	// connection that only discovered them, or discovered them again, has none.
	Previews []*Preview

	client      *Client
	credentials wire.Credentials
	reach       int64
	budget      int64
	sizes       *exactSizes
	places      chan struct{} // one for each request that may be open
}

// Connect reads the document, checks the credentials and discovers the tables. A
// rejection of the credentials is a *wire.Error of the code check_failed, whose
// message is for the person who typed them.
//
// Then it reads the size of each table and one page of its rows, as the platform does
// [rule connect-8]. Where the connector has no /size, the size is counted from the rows, up
// to the reach. A table that cannot be read is no error of Connect: its [Preview] has it.
func Connect(ctx context.Context, client *Client, credentials wire.Credentials, opts *ConnectionOptions) (*Connection, error) {
	doc, err := client.Document(ctx)
	if err != nil {
		return nil, err
	}
	if err := client.Check(ctx, credentials); err != nil {
		return nil, err
	}
	found, err := client.Discover(ctx, credentials)
	if err != nil {
		return nil, err
	}
	c := &Connection{Document: doc, Tables: found.Tables, Warnings: found.Warnings, Notes: danglingKeys(found),
		client: client, credentials: credentials, sizes: new(exactSizes)}
	if opts != nil {
		c.reach, c.budget = opts.Reach, opts.Budget
	}
	c.reach = cmp.Or(c.reach, 1_000_000)
	c.budget = cmp.Or(c.budget, 256<<20)
	c.places = make(chan struct{}, concurrency(doc))
	progress := func(*Connection, *Preview) {}
	if opts != nil && opts.Progress != nil {
		progress = opts.Progress
	}
	progress(c, nil)
	if opts != nil && opts.DiscoverOnly {
		return c, nil
	}
	if err := c.previewAll(ctx, progress); err != nil {
		return nil, err
	}
	return c, nil
}

// concurrency returns the number of requests that may be open at once.
func concurrency(doc *wire.Document) int {
	return max(doc.Capabilities.Limits.Concurrency, terms.MinConcurrency)
}

// Table returns the discovered table of that name, or nil.
func (c *Connection) Table(name string) *wire.Table {
	for i := range c.Tables {
		if c.Tables[i].Name == name {
			return &c.Tables[i]
		}
	}
	return nil
}

// table refuses a name that discovery does not list.
func (c *Connection) table(name string) (*wire.Table, error) {
	if t := c.Table(name); t != nil {
		return t, nil
	}
	return nil, refuse("there is no table %s", terms.QuoteName(name))
}

// ask runs one request that is no query in one of the connector's places.
func (c *Connection) ask(ctx context.Context, stats *Stats, do func() error) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	defer c.leave()
	stats.Requests++
	return do()
}
