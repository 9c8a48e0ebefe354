package platform

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Stats says how an answer came about: what the connector did, and what was
// finished here. While an answer is read, it grows.
type Stats struct {
	// Served is what the connector did of its last query, see [Rows.Served]. What
	// it was not asked to do is not in it.
	Served wire.Served

	Filtered bool // filters were applied here
	Sorted   bool // rows were sorted here
	Windowed bool // offset or limit was applied here
	Joined   bool // joins were executed here
	Folded   bool // groups and measures were computed here, from rows
	Counted  bool // rows or values were counted here

	Requests int   // requests to the connector
	RowsRead int64 // rows that crossed the wire

	// Notes say what in the answer contradicts what the connector has declared or stated before, and may be
	// so because live data moves. They quote no cell.
	Notes []string
}

// Answer is the answer to a query: its columns, and its rows as an iterator.
type Answer struct {
	// Columns are the requested fields, then those of each join.
	Columns []wire.Column
	// Stats says what was done for the rows so far.
	Stats Stats

	connection *Connection
	plan       *plan
	ctx        context.Context
}

// Query asks for rows. It sends what the document declares and does the rest
// here: filters, sort, window, joins and the choice of fields. The envelope of
// req, its timeouts and its fieldTypes are ignored: the types of all fields are
// known from discovery.
//
// Query returns a *RequestError if the discovered tables have no answer to req.
// The connector is asked when the rows are read.
func (c *Connection) Query(ctx context.Context, req *wire.QueryRequest) (*Answer, error) {
	p, err := c.plan(req)
	if err != nil {
		return nil, err
	}
	return &Answer{Columns: p.answer, connection: c, plan: p, ctx: ctx}, nil
}

// All yields the rows, in memory that does not grow with their number unless
// they have to be sorted or joined here. Each row is valid until the next one. A
// loop that ends without an error has seen the complete answer; a sort or a join
// that needs too much memory is [ErrBudget]. Each call asks the connector
// again.
//
// While All yields, it holds one of the places that limits.concurrency gives: a
// loop that asks the same Connection again may wait for itself. Pages are read ahead in
// places that are free, up to 8 MiB of each and a quarter of the budget together; an error
// of one of them ends the loop as soon as it is certain that the page is needed.
//
// If the connector refuses the question before the first row, because its document or its
// tables are others than those that were read, they are read once more, and the question is
// planned again.
func (a *Answer) All() iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		begun, more := false, true
		try := func(c *Connection) error {
			own, err := a.through(c)
			if err != nil {
				return err
			}
			for row, err := range own.read(&a.Stats) {
				if err != nil {
					return err
				}
				begun = true
				if more = yield(row, nil); !more {
					break
				}
			}
			return nil
		}
		err := try(a.connection)
		if err != nil && !begun {
			err = a.connection.again(a.ctx, &a.Stats, err, try)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// through returns the answer to the same question through a connection that may be another.
func (a *Answer) through(c *Connection) (*Answer, error) {
	own := *a
	if c == a.connection {
		return &own, nil
	}
	var err error
	if own.plan, err = c.plan(a.plan.req); err != nil {
		return nil, err
	}
	if !slices.Equal(own.plan.answer, a.plan.answer) {
		return nil, refuse("the columns of the answer are others than before")
	}
	own.connection = c
	return &own, nil
}

// read yields the rows as All does, and does not ask again.
func (a *Answer) read(stats *Stats) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		*stats = Stats{}
		f := &finisher{plan: a.plan, stats: stats, budget: relation.NewBudget(a.connection.budget), yield: yield}
		if err := f.run(a.ctx, a.connection); err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// errEnough ends a reading when the answer is complete or nobody reads on.
var errEnough = errors.New("enough rows")

// finisher does to the pulled rows what the connector left to do, in the order
// filters, sort, joins, window, fields.
type finisher struct {
	plan   *plan
	stats  *Stats
	budget *relation.Budget
	yield  func([]wire.Value, error) bool

	match  *filter.Matcher                // nil: nothing to filter
	broken *unserved                      // of a connector that says it has not filtered; nil: nothing was asked
	sort   *relation.TopN                 // nil: nothing to sort
	joiner *relation.Joiner               // nil: nothing to join
	skip   int64                          // rows of the offset still to drop
	left   int64                          // rows of the limit still to come; 0: no limit
	row    []wire.Value                   // the finished row
	ended  error                          // why emit wants no more rows
	joined func([]wire.Value, error) bool // emitJoined
}

// run reads, finishes and yields all rows. It returns errEnough if it was not
// necessary to read to the end.
func (f *finisher) run(ctx context.Context, c *Connection) error {
	p := f.plan
	f.row = make([]wire.Value, len(p.answer))
	f.joined = f.emitJoined
	pull := p.pull
	if p.joins != nil {
		// Before the base is read, so that one request at a time is open.
		var err error
		if f.joiner, err = c.joiner(ctx, p.joins, pull.columns, f.budget, f.stats); err != nil {
			return err
		}
	}
	begun := false
	for row, err := range c.rows(ctx, &pull, f.stats) {
		if err == nil && !begun {
			begun = true
			err = f.begin(&pull)
		}
		if err != nil {
			return err
		}
		if err := f.take(row); err != nil {
			return err
		}
	}
	if f.sort == nil {
		return nil
	}
	for _, row := range f.sort.Sorted() {
		if err := f.join(row); err != nil {
			return err
		}
	}
	return nil
}

// begin works out what the connector has left to do.
func (f *finisher) begin(pull *pull) (err error) {
	p, req := f.plan, f.plan.req
	if req.HasFilters() && !(p.pushedFilters && pull.done.Filters) {
		f.stats.Filtered = true
		if f.match, err = filter.Compile(req.Where, pull.columns); err != nil {
			return err
		}
		if pull.request.HasFilters() && !f.stats.Served.Filters {
			if asked := newClaims(&pull.request, pull.columns, wire.Served{Filters: true}, nil); asked != nil && asked.filters != nil {
				f.broken = &unserved{claims: asked}
			}
		}
	}
	if pull.done.Window && p.pushedOffset {
		return nil
	}
	if req.Limit > 0 || req.Offset > 0 {
		f.stats.Windowed = true
		f.skip = req.Offset
		if req.Limit > 0 {
			f.left = req.Limit
		}
	}
	if len(req.Sort) > 0 && !(p.pushedSort && pull.done.Sort) {
		f.stats.Sorted = true
		order, err := filter.CompileOrder(req.Sort, pull.columns, nil, pull.table.PrimaryKey)
		if err != nil {
			return err
		}
		f.sort = &relation.TopN{Order: order, Budget: f.budget}
		if req.Limit > 0 {
			f.sort.Most = req.Offset + req.Limit
		}
	}
	return nil
}

// take finishes one pulled row, or keeps it to be sorted.
func (f *finisher) take(row []wire.Value) error {
	if f.match != nil {
		if ok, err := f.match.Match(row); err != nil || !ok {
			if err == nil && f.broken != nil {
				f.broken.see(f.plan.pull.table.Name, row, f.stats)
			}
			return err
		}
	}
	if f.sort == nil {
		return f.join(row)
	}
	return refused(f.sort.Offer(row), "ask for fewer with a limit, or filter more")
}

// join yields a row with each of its matches.
func (f *finisher) join(row []wire.Value) error {
	if f.joiner == nil {
		return f.emit(row)
	}
	if !f.joiner.Each(row, f.joined) {
		return f.ended
	}
	return nil
}

// emitJoined does for a joiner what emit does.
func (f *finisher) emitJoined(row []wire.Value, _ error) bool {
	f.ended = f.emit(row)
	return f.ended == nil
}

// emit yields one row of the finished order, if it is in the window.
func (f *finisher) emit(row []wire.Value) error {
	if f.skip > 0 {
		f.skip--
		return nil
	}
	for i, at := range f.plan.from {
		f.row[i] = row[at]
	}
	if !f.yield(f.row, nil) {
		return errEnough
	}
	if f.left > 0 {
		if f.left--; f.left == 0 {
			return errEnough
		}
	}
	return nil
}
