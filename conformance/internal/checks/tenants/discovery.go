package tenants

import (
	"cmp"
	"maps"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// judgeDiscovery compares a tenant's discovery with those that both tenants got alone. How says when it was asked for.
func judgeDiscovery(alone [2]*session.Discovery, got *session.Discovery, tenant int, how string) *check.Finding {
	own, other := alone[tenant], alone[1-tenant]
	who := phrase.Ordinal(tenant)
	for _, name := range slices.Sorted(maps.Keys(got.Lookup)) {
		if own.Lookup[name] == nil && other.Lookup[name] != nil {
			names := slices.Sorted(maps.Keys(own.Lookup))
			return check.Differs("tables "+phrase.Quote(names), "table "+terms.QuoteName(name),
				"/discovery of the %s tenant, %s, lists a table that only the other has", who, how)
		}
		if own.Lookup[name] == nil || other.Lookup[name] == nil {
			continue
		}
		for _, f := range got.Lookup[name].Fields {
			if own.Lookup[name].Field(f.Name) == nil && other.Lookup[name].Field(f.Name) != nil {
				return check.Differs("no such column", "column "+terms.QuoteName(f.Name),
					"/discovery of the %s tenant, %s, lists a column of table %s that only the other has", who, how, terms.QuoteName(name))
			}
		}
	}
	if text := describe(got.Tables...); text != describe(own.Tables...) && text == describe(other.Tables...) {
		return check.Fail("/discovery of the %s tenant, %s, is the other's", who, how)
	}
	return nil
}

// describe returns discovered tables as a text that can be compared, whatever their order.
func describe(tables ...wire.Table) string {
	sorted := slices.SortedStableFunc(slices.Values(tables), func(a, b wire.Table) int { return cmp.Compare(a.Name, b.Name) })
	text, err := wire.EncodeAnswer(&wire.Discovery{Tables: sorted})
	if err != nil {
		return ""
	}
	return string(text)
}
