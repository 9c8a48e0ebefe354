package request

import (
	"context"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// LinkHitRate measures by one statement if the engine can compare the columns
// exactly, and a second one for the samples if there are orphans. Otherwise, and for
// samples that the engine cannot spell, it measures over the rows.
func LinkHitRate(ctx context.Context, s *session.Database, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	x, err := open(ctx, s, req.Credentials, connector.Call{Method: "LinkHitRate", Table: req.FromTable})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.LinkHitRate(ctx, req, true)
}

// LinkHitRate measures a link, and reads samples of its orphans if they are wanted.
func (x Request) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest, samples bool) (*wire.LinkHitRate, error) {
	from, hops, exact, err := x.hops(ctx, req.FromTable, []wire.JoinHop{{
		FromTable: req.FromTable, ToTable: req.ToTable, FromField: req.FromColumn, ToField: req.ToColumn,
	}})
	if err != nil {
		return nil, err
	}
	link := hops[0]
	if !exact {
		x.explainHops(hops, "The link rate of")
		return x.linkInMemory(ctx, req, from, link)
	}
	orphans := x.orphans(from, link)
	left, _, _ := x.comparableKeys(link.keys[0], link.keys[1])
	rate := &wire.LinkHitRate{OrphanSamples: []string{}}
	statement := "SELECT (SELECT COUNT(" + left + ") FROM " + from.From + "), (SELECT COUNT(*)" + orphans + ")" + x.fromNoTable()
	err = x.Row(ctx, req.FromTable, statement, nil, &rate.FromNonNull, &rate.OrphanCount)
	if session.Declined(err) {
		if err := x.Begin(ctx, ctx); err != nil {
			return nil, x.Database.Failure(ctx, err, req.FromTable)
		}
		return x.linkInMemory(ctx, req, from, link)
	}
	if err != nil || rate.OrphanCount == 0 || !samples {
		return rate, err
	}
	key := link.keys[0]
	sortable, err := x.NoneMatch(ctx, from, key.Loose.Guard, key.Loose.Long)
	if err != nil {
		return nil, err
	}
	if !sortable || key.Text == "" { // the engine cannot spell the samples, or not sort them
		return x.linkInMemory(ctx, req, from, link)
	}
	b := x.Builder()
	groups, least := key.Text, "x"
	if key.Class == sqlengine.ClassText && key.Key != key.Text { // the order of texts is that of Key
		groups, least = key.Key+", "+key.Text, key.Key
	}
	statement = b.Query(key.Text+" AS x", sqltext.Window{Limit: terms.MaxOrphanSamples, Ordered: true}, func() string {
		return orphans + " GROUP BY " + groups + " ORDER BY " + least
	})
	err = sqlengine.Each(ctx, x.Tx, statement, b.Args, func(scan func(...any) error) error {
		var sample string
		err := scan(&sample)
		rate.OrphanSamples = append(rate.OrphanSamples, sample)
		return err
	})
	return rate, x.Database.Failure(ctx, err, req.FromTable)
}

// orphans returns FROM and WHERE of the rows whose key has no match. An index of
// the other table answers for each row whether there is one; without an index
// that serves, the values of the other table are collected first.
func (x Request) orphans(from *session.Relation, link hop) string {
	left, right, _ := x.comparableKeys(link.keys[0], link.keys[1])
	key := link.keys[1]
	ordered := x.Database.Flavor.KeepOrder != nil
	served := link.to.Begins(key) && (right == key.Index.Stored || link.near[0] != "")
	switch {
	case served && ordered:
		return x.orphansInOrder(from, link)
	case served && link.to.IsUnique(key.Own, key): // some engines join faster than they ask whether there is one
		return " FROM " + from.From + " LEFT JOIN " + link.to.From + " ON " + link.on +
			" WHERE " + left + " IS NOT NULL AND " + right + " IS NULL"
	case served, right == key.Index.Stored && !ordered:
		return " FROM " + from.From + " WHERE " + left + " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM " + link.to.From + " WHERE " + link.on + ")"
	}
	return " FROM " + from.From + " LEFT JOIN (SELECT DISTINCT " + right + " AS k FROM " + link.to.From +
		" WHERE " + right + " IS NOT NULL) d ON d.k = " + left + " WHERE " + left + " IS NOT NULL AND d.k IS NULL"
}

// orphansInOrder looks the rows up in the order of the other table's index. They
// come from a derived table of the column, under the same names, and of the exact
// key. The key is compared as a column there because an engine may remember the
// answer to NOT EXISTS by the columns in it, as their collation compares them.
func (x Request) orphansInOrder(from *session.Relation, link hop) string {
	left, right, _ := x.comparableKeys(link.keys[0], link.keys[1])
	alias := "k"
	if strings.EqualFold(link.keys[0].Own, alias) {
		alias = "kk"
	}
	order, on := left, "t0."+alias+" = "+right
	if link.near[0] != "" {
		order, on = link.near[0], link.near[0]+" = "+link.near[1]+" AND "+on
	}
	table := " FROM (SELECT t0." + x.Database.Flavor.Quote(link.keys[0].Own) + ", " + left + " AS " + alias + " FROM " + from.From +
		" WHERE " + left + " IS NOT NULL" + x.Database.Flavor.KeepOrder(order) + ") t0"
	if link.to.IsUnique(link.keys[1].Own, link.keys[1]) {
		return table + " LEFT JOIN " + link.to.From + " ON " + on + " WHERE " + right + " IS NULL"
	}
	return table + " WHERE NOT EXISTS (SELECT 1 FROM " + link.to.From + " WHERE " + on + ")"
}

// linkInMemory measures over the rows of both columns.
func (x Request) linkInMemory(
	ctx context.Context, req *wire.LinkHitRateRequest, from *session.Relation, link hop,
) (*wire.LinkHitRate, error) {
	side := func(r *session.Relation, c *sqltext.Column) relation.Relation {
		return relation.Relation{
			Columns: []wire.Column{{Name: c.Name, Type: c.Type}},
			Rows:    x.Cells(ctx, r.Name, "SELECT "+c.Cell+" FROM "+r.From, nil, []*sqltext.Column{c}),
		}
	}
	return measures.LinkHitRate(side(from, link.keys[0]), side(link.to, link.keys[1]), req, 0)
}
