package connector

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// query serves /query in both modes: a body with a member named sql is in
// dialect mode, where the document has a dialect (C9).
func query(x *exchange) {
	data, err := x.body()
	if err != nil {
		x.refuse(err)
		return
	}
	if wire.IsSQL(data) {
		var sql wire.SQLRequest
		switch err := x.decode(data, &sql); {
		case x.h.caps.sql == nil && err == nil:
			x.refuse(Unsupported("sql: this connector takes no SQL (its document has no dialect)"))
			return
		case x.h.caps.sql != nil && err != nil:
			x.refuse(err)
			return
		case x.h.caps.sql != nil:
			querySQL(x, &sql)
			return
		}
		// The native decoder says best what is wrong with such a body.
	}
	var req wire.QueryRequest
	err = x.decode(data, &req)
	if err == nil {
		err = x.admit(&req.Credentials, &req.Table)
	}
	if err != nil {
		x.refuse(err)
		return
	}
	s := newStream(x, req.TimeoutMS, req.IdleTimeoutMS, req.MaxTimeoutMS)
	s.serve(func(ctx context.Context, rows *Rows) error {
		if err := x.checkJoins(ctx, req.Joins); err != nil {
			return err
		}
		table, err := x.describe(ctx, req.Table)
		if err == nil && table != nil {
			err = checkQuery(table, &req)
		}
		if err != nil {
			return err
		}
		rows.plan = x.h.plan(&req, table)
		method, call := "Query", x.h.source.Query
		if len(req.Joins) > 0 {
			method, call = "QueryJoined", x.h.caps.joiner.QueryJoined
		}
		return x.invoke(ctx, method, func(ctx context.Context) error { return rows.close(call(ctx, rows.plan.req, rows)) })
	})
}

func querySQL(x *exchange, req *wire.SQLRequest) {
	if err := x.admit(&req.Credentials, nil); err != nil {
		x.refuse(err)
		return
	}
	s := newStream(x, req.TimeoutMS, req.IdleTimeoutMS, req.MaxTimeoutMS)
	s.serve(func(ctx context.Context, rows *Rows) error {
		rows.plan = plan{sql: true}
		return x.invoke(ctx, "QuerySQL", func(ctx context.Context) error {
			return rows.close(x.h.caps.sql.QuerySQL(ctx, req, rows))
		})
	})
}
