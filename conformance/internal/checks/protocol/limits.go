package protocol

import (
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// limitChecks returns the checks about the ceilings that the document declares: what
// lies within them is answered.
func limitChecks() []session.Check {
	page := windowHolds(func(most wire.Limits) window { return window{limit: most.PageSizeMax} })
	skipped := windowHolds(func(most wire.Limits) window { return window{limit: 1, offset: most.OffsetMax} })
	several := declared.Only(func(d *declared.Document) bool { return d.Capabilities.Limits.Concurrency > 1 },
		"limits.concurrency is not above 1")
	return []session.Check{
		{ID: "P3.16a", Phase: 3, Judge: page, Rules: []string{"document-15", "query-15"},
			Needs: declared.Only(func(d *declared.Document) bool { return d.Capabilities.Limits.PageSizeMax > 0 }, "limits has no pageSizeMax"),
			Title: "a limit of pageSizeMax is answered in full",
			Fix:   "Declare as pageSizeMax the largest page that the source really answers."},
		{ID: "P3.16b", Phase: 3, Judge: skipped, Rules: []string{"document-15", "document-12", "query-15"},
			Needs: declared.All(declared.Needs("offset"),
				declared.Only(func(d *declared.Document) bool { return d.Capabilities.Limits.OffsetMax > 0 }, "limits has no offsetMax")),
			Title: "an offset of offsetMax is answered",
			Fix:   "Declare as offsetMax the largest offset that the source really skips."},
		{ID: "P3.16c", Phase: 3, Weight: 80, Judge: concurrencyHolds, Needs: several, Rules: []string{"document-15", "tenant-4"},
			Title: "as many requests at once as limits.concurrency get the answers they get alone",
			Fix: "Declare as concurrency what the source really takes, share nothing between requests that one of them changes, such " +
				"as a table that keeps the filters of the last one, " +
				"and let requests wait rather than fail when the source is busy."},
		{ID: "P3.16e", Phase: 3, Weight: 40, Judge: connectionsAlike, Needs: several, Rules: []string{"document-15", "tenant-4"},
			Title: "one read, asked several times at once when others came before, has the same rows each time",
			Fix: "A connection of a pool keeps what a request has set: its time zone, collation, schema, limits. Set what a request " +
				"needs whenever it takes a connection, and undo it when it gives the connection back."},
	}
}
