package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
)

// Pagination is what a list says about its pages.
type Pagination struct {
	Total   int64 `json:"total"`
	Limit   int64 `json:"limit"`
	Offset  int64 `json:"offset"`
	HasMore bool  `json:"hasMore"`
}

// ErrMoved is the error of a list whose items moved while its pages were read, so
// that some may be missing or come twice. Read the list again.
var ErrMoved = errors.New("items moved between the pages while they were read, and some may be missing; read the list again")

const (
	// pageSize is the largest limit that the API takes.
	pageSize = 100
	// maxPages ends a list that does not end by itself, after a million items.
	maxPages = 10_000
)

// List returns the items of a list, page by page. The query may hold filters, a
// sort, a limit (the size of a page; by default the largest, 100) and an offset (the
// first item).
//
// An error ends the sequence. Each item comes once, and none is left out: if the API
// shows that items moved between the pages, the error wraps [ErrMoved].
func List[T any](ctx context.Context, c *Client, endpoint string, args *Args) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		r, err := c.read(endpoint, args)
		for err == nil && !r.done {
			var items []json.RawMessage
			if items, err = r.page(ctx); err != nil {
				break
			}
			for _, item := range items {
				var value T
				if err = decode(r.endpoint, item, &value); err != nil {
					break
				}
				if !yield(value, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(none, err)
		}
	}
}

// reading is what is known about a list that is being read.
type reading struct {
	client   *Client
	endpoint Endpoint
	args     Args

	offset int64 // of the next page
	total  int64 // -1: unknown
	pages  int
	seen   map[string]struct{} // ids
	last   string              // the page before, as text
	done   bool
}

// read begins to read a list.
func (c *Client) read(endpoint string, args *Args) (*reading, error) {
	e, err := find(endpoint)
	if err != nil {
		return nil, err
	}
	r := &reading{client: c, endpoint: e, total: -1, seen: map[string]struct{}{}}
	query := url.Values{}
	if args != nil {
		r.args = *args
		for name, values := range args.Query {
			query[name] = values
		}
	}
	r.args.Query = query
	if offset := query.Get("offset"); offset != "" {
		if r.offset, err = strconv.ParseInt(offset, 10, 64); err != nil || r.offset < 0 {
			return nil, fmt.Errorf("api: %s: the offset must be a number", e.Name())
		}
	}
	if query.Get("limit") == "" {
		query.Set("limit", strconv.Itoa(pageSize))
	}
	return r, nil
}

// page requests the next page.
func (r *reading) page(ctx context.Context) ([]json.RawMessage, error) {
	r.args.Query.Set("offset", strconv.FormatInt(r.offset, 10))
	a, err := r.client.exchange(ctx, r.endpoint, &r.args)
	if err != nil {
		return nil, err
	}
	envelope, err := r.endpoint.open(a)
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(envelope.Data, &items); err != nil || items == nil {
		return nil, &AnswerError{r.endpoint.Name(), "the answer is not a list"}
	}
	// A list that knows no parameters answers all of it again. One that knows the
	// limit alone does so as well: then a full page is not all of it.
	if r.endpoint.Answer == Whole && r.pages == 1 && string(envelope.Data) == r.last &&
		strconv.Itoa(len(items)) != r.args.Query.Get("limit") {
		r.done = true
		return nil, nil
	}
	if err := r.accept(items, envelope.Data, envelope.Pagination); err != nil {
		return nil, err
	}
	return items, nil
}

// accept checks that a page follows the pages before it, and decides whether there
// is another one.
func (r *reading) accept(items []json.RawMessage, data []byte, p *Pagination) error {
	first := r.pages == 0
	if r.pages++; r.pages > maxPages {
		return &AnswerError{r.endpoint.Name(), fmt.Sprintf("the list does not end within %d pages", maxPages)}
	}
	if p != nil && p.Offset != r.offset {
		return &AnswerError{r.endpoint.Name(), fmt.Sprintf("the API answers from offset %d instead of %d", p.Offset, r.offset)}
	}
	for _, item := range items {
		var object struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(item, &object) != nil || object.ID == "" {
			continue // an item of a kind that the document does not show
		}
		if _, again := r.seen[object.ID]; again {
			return r.moved("an item came again")
		}
		r.seen[object.ID] = struct{}{}
	}
	text := string(data)
	if len(items) > 0 && text == r.last {
		return r.moved("the same page came again")
	}
	r.last = text
	end := r.offset + int64(len(items))
	switch {
	case p == nil:
		// Reference set B shows lists without pagination. A page may be shorter than
		// asked for and not be the last, so an empty one ends the list.
		r.done = len(items) == 0
	case !first && p.Total != r.total:
		return r.moved(fmt.Sprintf("the list grew or shrank from %d items to %d", r.total, p.Total))
	case p.HasMore && len(items) == 0:
		return &AnswerError{r.endpoint.Name(), "an empty page says that there are more items"}
	case p.HasMore && end >= p.Total, !p.HasMore && end < p.Total:
		return &AnswerError{r.endpoint.Name(), fmt.Sprintf("the list has %d items, but hasMore is %t after %d", p.Total, p.HasMore, end)}
	default:
		r.total, r.done = p.Total, !p.HasMore
	}
	r.offset = end
	return nil
}

func (r *reading) moved(how string) error {
	return fmt.Errorf("%s: %s: %w", r.endpoint.Name(), how, ErrMoved)
}
