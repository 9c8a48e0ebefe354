package connector

import (
	"context"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func serveAggregate(x *exchange, body []byte) {
	var req wire.AggregateRequest
	serveJSON(x, body, &req, &req.Envelope, &req.Table, func(ctx context.Context) (wire.Answer, error) {
		byDate := slices.ContainsFunc(req.GroupBy, func(g wire.GroupKey) bool { return g.Grain != "" })
		if byDate && !x.service.caps.dateBucket {
			return nil, Unsupported("groupBy: this connector accepts no grain (dateBucket is false)")
		}
		joined, err := x.checkJoins(ctx, req.Joins)
		if err != nil {
			return nil, err
		}
		table, err := x.describe(ctx, req.Table)
		if err == nil {
			err = checkFilters(table, req.Where)
		}
		if err == nil {
			err = checkAggregate(table, joined, &req)
		}
		if isDecline(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var groups [][]wire.Value
		err = x.invoke(ctx, "Aggregate", func(ctx context.Context) (err error) {
			groups, err = x.service.caps.aggregator.Aggregate(ctx, &req)
			return err
		})
		switch {
		case isDecline(err):
			return nil, nil
		case err != nil:
			return nil, err
		case groups == nil:
			return nil, fault("Aggregate returned nil rows; return ErrDecline to decline, or an empty slice for no groups")
		}
		return groupsAnswer(&req, groups)
	})
}

// groupsAnswer checks a source's answer to an aggregate and names its cells.
func groupsAnswer(req *wire.AggregateRequest, groups [][]wire.Value) (wire.Answer, error) {
	switch {
	case len(req.GroupBy) == 0 && len(groups) != 1:
		return nil, faultf("Aggregate answered %d rows without groupBy; it must be exactly one", len(groups))
	case len(req.GroupBy) > 0 && int64(len(groups)) >= req.Limit:
		return nil, Unsupported("more groups than the limit allows; narrow the filters or group by less")
	}
	var names []string
	for _, g := range req.GroupBy {
		names = append(names, g.As)
	}
	for _, m := range req.Measures {
		names = append(names, m.As)
	}
	answer := &wire.AggregateAnswer{Rows: make([]map[string]wire.Value, len(groups))}
	for i, row := range groups {
		if len(row) != len(names) {
			return nil, faultf("Aggregate answered a row of %d cells for %d groups and measures", len(row), len(names))
		}
		cells := make(map[string]wire.Value, len(names))
		for j, v := range row {
			var err error
			if m := j - len(req.GroupBy); m >= 0 {
				v, err = measured(req.Measures[m].Fn, v)
			} else {
				err = checkPeriod(v, req.GroupBy[j].Grain)
			}
			if err != nil {
				return nil, err
			}
			cells[names[j]] = v
		}
		answer.Rows[i] = cells
	}
	return answer, nil
}

// checkPeriod refuses a group key that is not null and not the first day of a period
// of the grain. A source that overlooks the grain would else answer wrong groups.
func checkPeriod(key wire.Value, grain wire.Grain) error {
	if grain == "" || key.IsNull() {
		return nil
	}
	if first, ok := relation.PeriodStart(key, grain); !ok || first.String() != key.String() {
		return faultf("Aggregate answered a group key that is not the first day of a %s as YYYY-MM-DD", grain)
	}
	return nil
}

// measured returns a measure's cell as it is sent: a count is an integer, a sum
// is digits or null.
func measured(fn wire.AggFunc, v wire.Value) (wire.Value, error) {
	switch fn {
	case wire.AggCount, wire.AggCountDistinct:
		if v.Kind() != wire.KindInt || v.Int64() < 0 {
			return v, fault("Aggregate answered a count that is not a wire.Int of at least 0")
		}
	case wire.AggSum:
		switch {
		case v.Kind() == wire.KindInt:
			return wire.Decimal(v.String()), nil
		case v.Kind() == wire.KindFloat, v.Kind() == wire.KindText && !terms.IsDecimal(v.Text()):
			return v, fault("Aggregate answered a sum that is not exact digits: " +
				"use wire.Decimal, or ErrDecline if the source adds floats")
		}
	}
	return v, nil
}
