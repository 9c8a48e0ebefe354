package conformance

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// adviceChecks are rules beyond what a sentence of the protocol says: rulings
// of ours, and what the platform is known to dislike. They fail nothing.
func adviceChecks() []Check {
	return slices.Concat(addressAdvice(), answerAdvice(), spellingAdvice(), strictnessAdvice(), tieAdvice())
}

// addressAdvice are A.1 to A.3: what the address and the document promise.
func addressAdvice() []Check {
	const refused = "The platform calls connectors from its own servers and refuses hosts that resolve to a private network."
	return []Check{
		{
			ID: "A.1", Phase: 0, Advice: true, open: true, judge: secureAddress,
			Title: "the base URL is https",
			Rule:  "protocol, What the service does 5",
			Quote: "The base URL is any https prefix, path included, so one host may carry several connectors, each with its own path; all routes below are relative to it.",
			Fix:   "Put the connector behind https before the platform connects to it: token and credentials travel in every request.",
		},
		{
			ID: "A.2", Phase: 0, Advice: true, open: true, judge: publicAddress,
			Title: "the host is not in a private network",
			Rule:  "protocol, What the service does 5", Quote: refused,
			Fix: "Give the connector an address that the platform's servers reach, or a tunnel that ends at one.",
		},
		{
			ID: "A.3", Phase: 0, Advice: true, judge: sizeBesideCardinality,
			needs: func(d *document) string {
				if !d.has(wire.EndpointCardinality) {
					return "endpoints does not list cardinality"
				}
				return ""
			},
			Title: "a connector that serves /cardinality serves /size too",
			Rule:  "protocol, /cardinality",
			Quote: "The counts are judged against the size, so a connector serving this route should serve `/size` too; without `/size` the bounded pull supplies the row count and the columns answered are kept.",
			Fix:   "Serve /size: otherwise the platform reads the table to learn how many rows it has.",
		},
	}
}

// answerAdvice are rules that every exchange of the run is held against.
func answerAdvice() []Check {
	row := func(id, title, rule, quote, fix string) Check {
		return Check{ID: id, Phase: 3, Advice: true, watched: true, judge: someStreams, Title: title, Rule: rule, Quote: quote, Fix: fix}
	}
	return []Check{
		row("A.4", "no ping stands before the served line, unless the source is slow", "C1", "Only when a source has stated nothing for 10 s may a ping stand before it.",
			"Write the served line before the first ping."),
		{
			ID: "A.5", Phase: 3, Advice: true, watched: true, judge: someStreams,
			needs: func(d *document) string {
				if d.Capabilities.Limits.RowsPerTableMax == 0 {
					return "limits has no rowsPerTableMax"
				}
				return ""
			},
			Title: "no stream has more rows than limits.rowsPerTableMax",
			Rule:  "protocol, Capability document",
			Quote: "source ceilings `pageSizeMax`, `rowsPerTableMax`, `concurrency` (1 to 16), `offsetMax`; the platform plans pulls against them",
			Fix:   "Declare the ceiling that the source really has, or none: the platform plans less than it could.",
		},
		row("A.10", "rows hold the requested fields and no others", "B5", "Row members are exactly the requested `fields` (once each), plus join fields under their `as`.",
			"Project the rows to the fields of the request."),
		row("A.13", "authenticated answers carry Cache-Control: no-store", "G9", "Authenticated answers carry `Cache-Control: no-store`.",
			"Set the header on every answer but the document, so that no proxy keeps a tenant's data."),
		row("A.20", "answers and lines hold no members that the protocol does not name", "H3", "A reader strips unknown *top-level* members and refuses unknown members elsewhere.",
			"Leave out what the protocol does not name: a strict reader may refuse it."),
	}
}

// spellingAdvice are rules on how values are written.
func spellingAdvice() []Check {
	return []Check{
		{
			ID: "A.6", Phase: 2, Advice: true, judge: decimalScale,
			Title: "decimals keep their scale",
			Rule:  "D1", Quote: "Decimals are digit strings with their scale kept (`10.250`).",
			Fix: "Read decimals from the source as text, or with their scale; 10.250 says more than 10.25.",
		},
		{
			ID: "A.7", Phase: 3, Advice: true, judge: timeSpelling,
			Title: "dates are YYYY-MM-DD, datetimes end in Z",
			Rule:  "D2", Quote: "`date` is `YYYY-MM-DD`; `datetime` is UTC with a trailing `Z`.",
			Fix: "Convert to UTC and write Z, so that byte order is time order.",
		},
	}
}

func secureAddress(x *exam) {
	if !strings.HasPrefix(x.base, "https://") {
		x.want("https", "http", "the base URL is plain http, which the platform does not take")
	}
}

// publicAddress judges the host, resolved as this machine resolves it.
func publicAddress(x *exam) {
	u, err := url.Parse(x.base)
	if err != nil {
		panic(err) // it was parsed before
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		x.want("a public host", host, "the base URL leads to this machine, which the platform does not reach")
	}
	var addresses []netip.Addr
	if ip, err := netip.ParseAddr(host); err == nil {
		addresses = []netip.Addr{ip}
	} else if x.target.dial == nil {
		ctx, cancel := context.WithTimeout(x.ctx, grace)
		defer cancel()
		if addresses, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
			x.skip(NoData, "the host's name does not resolve here")
		}
	}
	for _, ip := range addresses {
		if ip = ip.Unmap(); private(ip) {
			x.want("a public address", ip.String(), "the host %s is in a private network, which the platform refuses", host)
		}
	}
}

// private tells addresses that no server elsewhere reaches.
func private(ip netip.Addr) bool {
	shared := netip.MustParsePrefix("100.64.0.0/10") // of carriers (RFC 6598)
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || shared.Contains(ip)
}

func sizeBesideCardinality(x *exam) {
	if !x.document().has(wire.EndpointSize) {
		x.fail("endpoints lists cardinality, but not size")
	}
}

// decimalScale compares how decimals of the corpus are spelled.
func decimalScale(x *exam) {
	for _, want := range corpus.Tables() {
		t := x.discovery(0).tables[want.Name]
		if t == nil {
			continue
		}
		for i, f := range want.Fields {
			id := slices.IndexFunc(want.Fields, func(f wire.Field) bool { return f.Name == want.PrimaryKey[0] })
			if f.Type != wire.TypeDecimal || len(want.PrimaryKey) != 1 || t.Field(f.Name) == nil || t.Field(want.PrimaryKey[0]) == nil {
				continue
			}
			got := x.table(t)
			if got == nil {
				continue
			}
			spelled := map[string]string{}
			for _, row := range got.Rows {
				spelled[row[got.Index(want.PrimaryKey[0])].String()] = row[got.Index(f.Name)].String()
			}
			for _, row := range want.Rows {
				text, ok := spelled[row[id].String()]
				if !ok || row[i].IsNull() || text == row[i].String() || !wire.IsDecimal(text) {
					continue // another value is another check's matter
				}
				if order, ok := oracle.Compare(wire.Decimal(text), row[i], wire.TypeDecimal); ok && order == 0 {
					x.want(row[i].String(), text, "table %s, %s = %s: %s has lost its scale", want.Name, want.PrimaryKey[0], row[id], f.Name)
				}
			}
			x.cases++
		}
	}
	if x.cases == 0 {
		x.skip(NoData, "no table of the corpus with a decimal column")
	}
}

var (
	spelledDate     = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	spelledDatetime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
)

func timeSpelling(x *exam) {
	x.discovery(0)
	for _, t := range x.tables() {
		for _, f := range t.Fields {
			form, expected := spelledDate, "YYYY-MM-DD"
			switch f.Type {
			case wire.TypeDate:
			case wire.TypeDatetime:
				form, expected = spelledDatetime, "YYYY-MM-DDThh:mm:ssZ, with or without a fraction"
			default:
				continue
			}
			snap := x.table(t)
			if snap == nil {
				continue
			}
			i := snap.Index(f.Name)
			for _, row := range snap.Rows {
				if row[i].IsNull() {
					continue
				}
				x.cases++
				if text := row[i].String(); !form.MatchString(text) {
					x.want(expected, excerpt([]byte(text), 60), "%s.%s, of type %s", wire.QuoteName(t.Name), wire.QuoteName(f.Name), f.Type)
				}
			}
		}
	}
	if x.cases == 0 {
		x.skip(NoData, "no table with a date or a datetime")
	}
}

// refusedStatus ends the check unless the answer has one of the statuses.
func (x *exam) refusedStatus(a *answer, what string, statuses ...int) {
	x.cases++
	var expected []string
	for _, status := range statuses {
		expected = append(expected, fmt.Sprintf("%d %s", status, http.StatusText(status)))
	}
	switch {
	case a.err != nil:
		x.want(strings.Join(expected, " or "), a.err.Error(), "%s is not answered", what)
	case !slices.Contains(statuses, a.status):
		x.want(strings.Join(expected, " or "), a.describe(), "%s is answered with %d", what, a.status)
	}
}
