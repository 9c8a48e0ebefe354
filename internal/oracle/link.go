package oracle

import (
	"fmt"
	"math"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// LinkHitRate returns the right answer to a link hit rate: how many from-rows
// have a key without a match, and the first 20 of these keys as distinct texts
// in byte order.
func LinkHitRate(tables Tables, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	o, err := findOrphans(tables, req)
	if err != nil {
		return nil, err
	}
	rate := &wire.LinkHitRate{
		FromNonNull: o.nonNull, OrphanCount: int64(len(o.keys)), OrphanRate: o.rate(), OrphanSamples: []string{},
	}
	for _, v := range o.keys {
		rate.OrphanSamples = append(rate.OrphanSamples, v.String())
	}
	slices.Sort(rate.OrphanSamples)
	rate.OrphanSamples = slices.Compact(rate.OrphanSamples)
	rate.OrphanSamples = rate.OrphanSamples[:min(len(rate.OrphanSamples), terms.MaxOrphanSamples)]
	return rate, nil
}

// VerifyLinkHitRate compares an answer with the right one and returns nil if
// they agree. The counts must be exact and the rate their quotient. The samples
// must be at most 20 keys of orphans, in any spelling that [Same] accepts. The
// connector may choose which ones it sends, and in what order.
func VerifyLinkHitRate(tables Tables, req *wire.LinkHitRateRequest, got *wire.LinkHitRate) *Difference {
	o, err := findOrphans(tables, req)
	if err != nil {
		return &Difference{Detail: "the request has no answer: " + err.Error(), Expected: "a refusal", Received: "an answer"}
	}
	for _, n := range []struct {
		name      string
		want, got int64
	}{{"fromNonNull", o.nonNull, got.FromNonNull}, {"orphanCount", int64(len(o.keys)), got.OrphanCount}} {
		if n.want != n.got {
			return &Difference{Detail: n.name + " is wrong", Expected: fmt.Sprint(n.want), Received: fmt.Sprint(n.got)}
		}
	}
	if !(math.Abs(o.rate()-got.OrphanRate) <= 1e-6) {
		return &Difference{
			Detail:   "orphanRate is not orphanCount by fromNonNull",
			Expected: fmt.Sprint(o.rate()), Received: fmt.Sprint(got.OrphanRate),
		}
	}
	if n := len(got.OrphanSamples); n > terms.MaxOrphanSamples {
		return &Difference{
			Detail:   "too many orphanSamples",
			Expected: fmt.Sprintf("at most %d", terms.MaxOrphanSamples), Received: fmt.Sprint(n),
		}
	}
	orphans := map[identity]bool{}
	for _, v := range o.keys {
		orphans[canonical(v, o.t)] = true
	}
	for i, sample := range got.OrphanSamples {
		if !orphans[canonical(wire.Text(sample), o.t)] {
			return &Difference{
				Detail:   fmt.Sprintf("orphanSamples[%d] is no orphan", i),
				Expected: "keys without a match", Received: showText(sample),
			}
		}
	}
	return nil
}

// orphans collects the keys of the from-rows without a match, one for each row.
type orphans struct {
	t       wire.Type
	keys    []wire.Value
	nonNull int64
}

func (o *orphans) rate() float64 {
	if o.nonNull == 0 {
		return 0
	}
	return float64(len(o.keys)) / float64(o.nonNull)
}

func findOrphans(tables Tables, req *wire.LinkHitRateRequest) (*orphans, error) {
	from, err := tables.table(req.FromTable)
	if err != nil {
		return nil, err
	}
	to, err := tables.table(req.ToTable)
	if err != nil {
		return nil, err
	}
	fromColumn, toColumn := from.baseIndex(req.FromColumn), to.baseIndex(req.ToColumn)
	if fromColumn < 0 {
		return nil, &UnknownField{Table: from.Name, Field: req.FromColumn, Where: "column"}
	}
	if toColumn < 0 {
		return nil, &UnknownField{Table: to.Name, Field: req.ToColumn, Where: "column"}
	}
	o := &orphans{t: from.Columns[fromColumn].Type}
	by := linkRule(o.t, to.Columns[toColumn].Type)
	targets := map[identity]bool{}
	for _, row := range to.Rows {
		if id, ok := linkKey(cell(row, toColumn), by); ok {
			targets[id] = true
		}
	}
	for _, row := range from.Rows {
		v := cell(row, fromColumn)
		if v.IsNull() {
			continue
		}
		o.nonNull++
		if id, ok := linkKey(v, by); !ok || !targets[id] {
			o.keys = append(o.keys, v)
		}
	}
	return o, nil
}
