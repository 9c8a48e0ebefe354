package tenants

import (
	"maps"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// judgeDiscovery compares a tenant's discovery with those that both tenants got alone.
func judgeDiscovery(alone [2]*session.Discovery, got *session.Discovery, tenant int) *check.Finding {
	own, other := alone[tenant], alone[1-tenant]
	who := session.Ordinal(tenant)
	for _, name := range slices.Sorted(maps.Keys(got.Lookup)) {
		if own.Lookup[name] == nil && other.Lookup[name] != nil {
			names := slices.Sorted(maps.Keys(own.Lookup))
			return check.Differs("tables "+session.QuoteNames(names), "table "+terms.QuoteName(name),
				"/discovery of the %s tenant, asked in turn with the other, lists a table that only the other has", who)
		}
	}
	if text := describeTables(got); text != describeTables(own) && text == describeTables(other) {
		return check.Fail("/discovery of the %s tenant, asked in turn with the other, is the other's", who)
	}
	return nil
}

// describe returns a discovered table as a text that can be compared.
func describe(t *wire.Table) string {
	text, err := wire.EncodeAnswer(&wire.Discovery{Tables: []wire.Table{*t}})
	if err != nil {
		return ""
	}
	return string(text)
}

// describeTables returns the tables of a discovery as a text that can be compared,
// whatever their order.
func describeTables(d *session.Discovery) string {
	list := make([]string, len(d.Tables))
	for i := range d.Tables {
		list[i] = describe(&d.Tables[i])
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}
