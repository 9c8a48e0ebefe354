package connector

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// describe asks the source for a table, once in a request. It returns nil if the
// source is no [Describer].
func (x *exchange) describe(ctx context.Context, name string) (*wire.Table, error) {
	if x.service.caps.describer == nil {
		return nil, nil
	}
	if table := x.described[name]; table != nil {
		return table, nil
	}
	var table *wire.Table
	err := x.calls.invoke(ctx, Call{Method: "Describe", Table: name}, func(ctx context.Context) (err error) {
		table, err = x.service.caps.describer.Describe(ctx, x.creds, name)
		return err
	})
	if err == nil && table == nil {
		err = fault("Describe returned nothing; for an unknown table return UnknownEntity")
	}
	if err != nil {
		return nil, err
	}
	if x.described == nil {
		x.described = map[string]*wire.Table{}
	}
	x.described[name] = table
	if name == x.reply.log.table {
		x.known.Store(true)
	}
	return table, nil
}

// checkJoins refuses joins that the connector does not execute, a hop from a
// table that two hops lead to, and unknown tables and fields of a hop. It returns the
// descriptions of the tables that the hops lead to, which are nil without a [Describer].
func (x *exchange) checkJoins(ctx context.Context, joins []wire.JoinHop) (joined []*wire.Table, err error) {
	if len(joins) == 0 {
		return nil, nil
	}
	if x.service.caps.joiner == nil {
		return nil, Unsupported("joins: this connector executes no joins (join is false)")
	}
	reached := map[string]int{}
	for i, j := range joins {
		if reached[j.FromTable] > 1 {
			return nil, Unsupported("joins[%d].fromTable: two hops lead to table %s, so it is not clear which is meant",
				i, terms.QuoteName(j.FromTable))
		}
		reached[j.ToTable]++
	}
	for _, j := range joins {
		from, err := x.describe(ctx, j.FromTable)
		if err == nil {
			err = checkColumns(from, j.FromField)
		}
		if err != nil {
			return nil, err
		}
		to, err := x.describe(ctx, j.ToTable)
		joined = append(joined, to)
		names := []string{j.ToField}
		for _, f := range j.Fields {
			names = append(names, f.Field)
		}
		if err == nil {
			err = checkColumns(to, names...)
		}
		if err != nil {
			return nil, err
		}
	}
	return joined, nil
}
