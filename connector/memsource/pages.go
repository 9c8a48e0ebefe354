package memsource

import (
	"context"
	"errors"
	"iter"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ErrCursorRepeats means that the upstream of [Pages] repeated a cursor:
// following it would never end.
var ErrCursorRepeats = errors.New(
	"memsource: the upstream's cursor repeats, so its pages would never end; check how fetch reads the next cursor")

// Pages reads an upstream API page by page. fetch gets the zero cursor first,
// then the next cursor of the page before; a zero next cursor ends the pages. A
// cursor is whatever the upstream uses and == compares: a token, a URL, a page
// number.
//
// Only one page is in memory at a time, and fetch is called when its rows are
// needed: a slow reader slows the upstream down, and a full window stops it. A
// page may be empty and still have a next one. Pages checks ctx between pages
// and passes it to fetch. Ranging over the rows again fetches them again.
//
// A repeated cursor ends the rows with [ErrCursorRepeats]: at once if it is the
// one just used, else within a few rounds of the loop. Pages does not collect
// cursors, so this costs the same however many pages there are. An upstream that
// keeps the position itself and answers the same cursor for every page needs a
// cursor with a counter, such as struct{ id string; page int }.
//
// An API that answers {"items": [...], "next": "..."}:
//
//	rows := memsource.Pages(ctx, func(ctx context.Context, cursor string) ([][]wire.Value, string, error) {
//		var page struct {
//			Items []struct{ Name string; Price json.Number }
//			Next  string
//		}
//		if err := s.get(ctx, "/items?after="+url.QueryEscape(cursor), &page); err != nil {
//			return nil, "", err
//		}
//		rows := make([][]wire.Value, len(page.Items))
//		for i, item := range page.Items {
//			rows[i] = []wire.Value{wire.Text(item.Name), wire.Decimal(item.Price.String())}
//		}
//		return rows, page.Next, nil
//	})
//	return out.Begin(columns).All(rows)
//
// Errors of fetch end the rows. They reach the platform as internal errors,
// unless connector.BadRequest and its like made them; never put the text of an
// upstream's answer into one.
func Pages[C comparable](
	ctx context.Context, fetch func(ctx context.Context, cursor C) (rows [][]wire.Value, next C, err error),
) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		var none, cursor C
		// Brent's cycle detection: remember one cursor, and remember a later
		// one each time twice as many pages have gone by.
		remembered, since, power := none, 0, 1
		for {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			rows, next, err := fetch(ctx, cursor)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if next == none {
				return
			}
			if next == cursor || next == remembered {
				yield(nil, ErrCursorRepeats)
				return
			}
			if since++; since == power {
				remembered, since, power = next, 0, power*2
			}
			cursor = next
		}
	}
}

// RowsOf iterates over the given rows, without copying them, as connector.RowWriter.All
// takes them.
func RowsOf(rows ...[]wire.Value) iter.Seq2[[]wire.Value, error] { return relation.RowsOf(rows...) }
