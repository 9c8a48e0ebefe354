package connector

import (
	"context"
	"math"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/finish"
	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// serveQuery serves /query. If the document has a dialect, a body with a member
// named sql is SQL.
func serveQuery(x *exchange, body []byte) {
	if scan.Has(body, "sql") {
		var sql wire.SQLRequest
		switch err := x.decode(body, &sql); {
		case x.service.caps.sql == nil && err == nil:
			x.reply.fail(Unsupported("sql: this connector takes no SQL (its document has no dialect)"))
			return
		case x.service.caps.sql != nil && err != nil:
			x.reply.fail(err)
			return
		case x.service.caps.sql != nil:
			serveSQL(x, &sql)
			return
		}
		// The error of the table mode's decoder says best what is wrong.
	}
	var req wire.QueryRequest
	if err := x.accept(body, &req, &req.Credentials, &req.Table); err != nil {
		x.reply.fail(err)
		return
	}
	s := newStream(x, req.TimeoutMS, req.IdleTimeoutMS, req.MaxTimeoutMS)
	s.serve(func(ctx context.Context) error {
		joined, err := x.checkJoins(ctx, req.Joins)
		if err != nil {
			return err
		}
		table, err := x.describe(ctx, req.Table)
		if err == nil && table != nil {
			err = checkQuery(table, &req)
		}
		if err != nil {
			return err
		}
		method, call := "Query", x.service.source.Query
		if len(req.Joins) > 0 {
			method, call = "QueryJoined", x.service.caps.joiner.QueryJoined
		}
		plan := x.service.plan(&req, table)
		plan.Joined = joined
		rows := x.newRows(plan, batch.NewBatcher(s.handoff, s.rows), s.handoff)
		request := withoutWindow(&req)
		request.MaxRows = maxRows(plan)
		return x.invoke(ctx, method, func(ctx context.Context) error {
			return rows.close(call(ctx, request, rows))
		})
	})
}

func serveSQL(x *exchange, req *wire.SQLRequest) {
	if err := x.admit(&req.Credentials, nil); err != nil {
		x.reply.fail(err)
		return
	}
	s := newStream(x, req.TimeoutMS, req.IdleTimeoutMS, req.MaxTimeoutMS)
	s.serve(func(ctx context.Context) error {
		plan := &finish.Plan{Request: &wire.QueryRequest{}, SQL: true}
		rows := x.newRows(plan, batch.NewBatcher(s.handoff, s.rows), s.handoff)
		return x.invoke(ctx, "QuerySQL", func(ctx context.Context) error {
			return rows.close(x.service.caps.sql.QuerySQL(ctx, req, rows))
		})
	})
}

// countByReading counts the rows of a query, for a source whose Count declines.
func (x *exchange) countByReading(ctx context.Context, req *wire.CountRequest, table *wire.Table) (int64, error) {
	query := &wire.QueryRequest{Table: req.Table, Where: req.Where, Fields: []string{}, Envelope: req.Envelope}
	handoff := batch.NewHandoff(x.since, false, nil)
	rows := x.newRows(x.service.plan(query, table), nil, handoff)
	// A source that ignores its context has its rows refused after the deadline.
	stop := context.AfterFunc(ctx, func() { handoff.Stop(errDeadline) })
	defer stop()
	err := x.invoke(ctx, "Query", func(ctx context.Context) error {
		return rows.close(x.service.source.Query(ctx, withoutWindow(query), rows))
	})
	return rows.finisher.Count, err
}

// newRows returns the rows of the request's call, which its stats count.
func (x *exchange) newRows(plan *finish.Plan, to *batch.Batcher, handoff *batch.Handoff) *Rows {
	rows := newRows(plan, to, handoff)
	x.rows.Store(rows)
	return rows
}

// withoutWindow returns a query as a source sees it.
func withoutWindow(req *wire.QueryRequest) *Query {
	return &Query{
		Table:    req.Table,
		Where:    req.Where,
		Sort:     req.Sort,
		Fields:   req.Fields,
		Joins:    req.Joins,
		Envelope: req.Envelope,
	}
}

// maxRows returns Query.MaxRows of a plan.
func maxRows(p *finish.Plan) int64 {
	switch offset, limit := p.Request.Offset, p.Request.Limit; {
	case offset == 0 && limit == 0:
		return 0
	case limit == 0 || offset > math.MaxInt64-limit || !p.WindowAllowed():
		return math.MaxInt64
	default:
		return offset + limit
	}
}
