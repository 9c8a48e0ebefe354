package tenants

import (
	"maps"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// judgeDiscovery compares a tenant's discovery with those that both tenants got alone.
func judgeDiscovery(alone [2]*session.Discovery, got *session.Discovery, tenant int) *check.Finding {
	own, other := alone[tenant], alone[1-tenant]
	who := session.Ordinal(tenant)
	for _, name := range slices.Sorted(maps.Keys(got.Lookup)) {
		if own.Lookup[name] == nil && other.Lookup[name] != nil {
			names := slices.Sorted(maps.Keys(own.Lookup))
			return check.Differs("tables "+session.QuoteNames(names), "table "+wire.QuoteName(name),
				"/discovery of the %s tenant, asked in turn with the other, lists a table that only the other has", who)
		}
	}
	if text := describeTables(got); text != describeTables(own) && text == describeTables(other) {
		return check.Fail("/discovery of the %s tenant, asked in turn with the other, is the other's", who)
	}
	return nil
}
