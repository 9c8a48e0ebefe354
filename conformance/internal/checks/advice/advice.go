// Package advice checks rules that are not binding: our decisions, and what the
// platform is known to dislike. Breaking one fails nothing.
package advice

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Warnings is the id of the check of what discovery warns of, which a report shows first among advice.
const Warnings = "A.37"

// Checks returns the checks in the order in which they run.
func Checks() []session.Check {
	return slices.Concat(discoveryChecks(), addressChecks(), answerChecks(), spellingChecks(), strictnessChecks())
}

func discoveryChecks() []session.Check {
	return []session.Check{{
		ID: Warnings, Phase: 3, Advice: true, Strict: true, Judge: warnsOfNothing, Rules: []string{"discovery-1a"},
		Title: "discovery warns of nothing",
		Fix: "Mend what the warning names, such as a path that leads nowhere or a filter that the source ignores: " +
			"the answers lack what it left out. With -strict a warning fails.",
	}}
}

func warnsOfNothing(run *session.Run) *check.Finding {
	var all []string
	for tenant := range run.Tenants {
		d, f := run.Discovery(tenant)
		if f != nil {
			return f
		}
		run.Cases++
		for _, w := range d.Warnings {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	quoted := make([]string, len(all))
	for i, w := range all {
		quoted[i] = strconv.Quote(message.Excerpt([]byte(w), maxWarning))
	}
	return check.Fail("discovery warns: %s", phrase.Some(quoted, maxWarnings))
}

// How much of what discovery warns of is quoted: sentences, and characters of each.
const (
	maxWarnings = 5
	maxWarning  = 300
)

func addressChecks() []session.Check {
	return []session.Check{
		{ID: "A.1", Phase: 0, Advice: true, Open: true, Judge: secureAddress, Rules: []string{"verdict-15", "tenant-7"},
			Title: "the base URL is https",
			Fix:   "Put the connector behind https before the platform connects to it: token and credentials travel in every request."},
		{ID: "A.2", Phase: 0, Advice: true, Open: true, Judge: publicAddress, Rules: []string{"verdict-15", "tenant-7"},
			Title: "the host is not in a private network",
			Fix:   "Give the connector an address that the platform's servers reach, or a tunnel that ends at one."},
		{ID: "A.3", Phase: 0, Advice: true, Judge: sizeBesideCardinality, Rules: []string{"measure-9"},
			Needs: declared.Needs(wire.PathCardinality),
			Title: "a connector that serves /cardinality serves /size too",
			Fix:   "Serve /size: otherwise the platform reads the table to learn how many rows it has."},
	}
}

func answerChecks() []session.Check {
	return check.Family(session.Check{
		Phase: 3, Advice: true, Watched: true, Judge: (*session.Run).ReadSomeTables,
	}, []session.Check{
		{ID: "A.4", Rules: []string{"stream-1a"},
			Title: "no ping stands before the served line, unless the source is slow",
			Fix:   "Write the served line before the first ping."},
		{ID: "A.5", Rules: []string{"document-16"},
			Needs: declared.Only(func(d *declared.Document) bool { return d.Capabilities.Limits.RowsPerTableMax != 0 },
				"limits has no rowsPerTableMax"),
			Title: "no stream has more rows than limits.rowsPerTableMax",
			Fix:   "Declare the ceiling that the source really has, or none: the platform plans less than it could."},
		{ID: "A.36", Rules: []string{"document-15a"},
			Needs: declared.Only(func(d *declared.Document) bool { return d.Capabilities.Limits.PageSizeMax != 0 }, "limits has no pageSizeMax"),
			Title: "no stream has more rows than limits.pageSizeMax",
			Fix: "Declare no pageSizeMax unless one answer can have no more rows: it is not the size of the upstream's pages, " +
				"and the platform asks for that many rows at a time."},
		{ID: "A.10", Rules: []string{"query-5"},
			Title: "rows hold the requested fields and no others",
			Fix:   "Project the rows to the fields of the request."},
		{ID: "A.13", Rules: []string{"http-9b"},
			Title: "authenticated answers carry Cache-Control: no-store",
			Fix:   "Set the header on every answer except the document, so that no proxy keeps a tenant's data."},
		{ID: "A.20", Rules: []string{"document-3a"},
			Title: "answers and lines hold no members that the protocol does not name",
			Fix:   "Leave out what the protocol does not name: a strict reader may refuse it."},
	})
}

func spellingChecks() []session.Check {
	return []session.Check{
		{ID: "A.6", Phase: 2, Advice: true, Judge: decimalScale, Rules: []string{"cell-1b"},
			Title: "decimals keep their scale",
			Fix:   "Read decimals from the source as text, or with their scale; 10.250 says more than 10.25."},
		{ID: "A.7", Phase: 3, Advice: true, Judge: cellsSpelled(timeSpellings, "a date or a datetime"), Rules: []string{"cell-2a"},
			Title: "dates are YYYY-MM-DD, datetimes end in Z",
			Fix:   "Convert to UTC and write Z, so that byte order is time order."},
		{ID: "A.22", Phase: 3, Advice: true, Judge: cellsSpelled(booleanSpellings, "a boolean"),
			Rules: []string{"cell-5a", "cell-5"},
			Title: "booleans are true and false, and no texts",
			Fix:   "Answer JSON booleans for boolean columns, whatever the source stores."},
		{ID: "A.23", Phase: 3, Advice: true, Judge: cellsSpelled(jsonSpellings, "JSON or an array"), Rules: []string{"cell-3a"},
			Title: "JSON text is compact",
			Fix:   "Write JSON and arrays without blanks between their tokens: they compare as text."},
	}
}

// refusedWithStatus counts a case and returns what is wrong with an answer that must have the status.
func refusedWithStatus(run *session.Run, a *session.Answer, what string, status int) *check.Finding {
	run.Cases++
	expected := fmt.Sprintf("%d %s", status, http.StatusText(status))
	switch {
	case a.Err != nil:
		return check.Differs(expected, a.Err.Error(), "%s is not answered", what)
	case a.Status != status:
		return check.Differs(expected, a.Describe(), "%s is answered with %d", what, a.Status)
	}
	return nil
}

func secureAddress(run *session.Run) *check.Finding {
	if !strings.HasPrefix(run.Base, "https://") {
		return check.Differs("https", "http", "the base URL is plain http, which the platform does not take")
	}
	return nil
}

func sizeBesideCardinality(run *session.Run) *check.Finding {
	if !run.Document.Offers(wire.PathSize) {
		return check.Fail("endpoints lists cardinality, but not size")
	}
	return nil
}

// publicAddress judges the host's addresses, as this machine resolves them.
func publicAddress(run *session.Run) *check.Finding {
	u, err := url.Parse(run.Base)
	if err != nil {
		panic(err) // it was parsed before
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return check.Differs("a public host", host, "the base URL leads to this machine, which the platform does not reach")
	}
	var addresses []netip.Addr
	if ip, err := netip.ParseAddr(host); err == nil {
		addresses = []netip.Addr{ip}
	} else if !run.InProcess {
		ctx, cancel := context.WithTimeout(run.Ctx, defaults.Grace)
		defer cancel()
		if addresses, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
			return check.Skip(check.NoData, "the host's name does not resolve here")
		}
	}
	for _, ip := range addresses {
		if ip = ip.Unmap(); netguard.Check(ip) != nil { // [rule tenant-7]
			return check.Differs("a public address", ip.String(), "the host %s is in a private network, which the platform refuses", host)
		}
	}
	return nil
}
