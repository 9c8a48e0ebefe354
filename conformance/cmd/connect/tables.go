package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/entity"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tablesView is the panel Tables.
type tablesView struct {
	Problem  string
	Waiting  string
	Warnings []string
	Tables   []wire.Table
	Enforced bool // keys are constraints of the source
}

// begin follows the source that has just been bound: its status, and its tables. The caller
// holds p.mu.
func (p *page) begin() {
	p.stop()
	p.work.Wait()
	p.connection.Store(nil)
	p.feed.clear()
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	source := p.source.Load()
	p.feed.put("document", p.render("document.html", source.Document()))
	p.feed.put("panel-tables", p.render("tables.html", tablesView{Waiting: "Reading the tables…"}))
	p.feed.put("panel-ask", `<p class="note" role="status">Reading the tables…</p>`)
	p.work.Go(func() { p.follow(ctx, source) })
	p.work.Go(func() { p.discover(ctx, source) })
}

// disconnect ends all that works for the source.
func (p *page) disconnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop()
	p.work.Wait()
	if s := p.source.Load(); s != nil {
		s.Close()
	}
}

// discover connects, and shows the tables of the source, then the size and one page of rows of
// each as they come.
func (p *page) discover(ctx context.Context, s *lifecycle.Source) {
	client, credentials := s.Client()
	options := p.options
	var reading *connected
	options.Progress = func(c *platform.Connection, preview *platform.Preview) {
		switch {
		case ctx.Err() != nil:
		case preview == nil:
			reading = &connected{Connection: c, url: s.URL(), entities: entity.All(c), first: map[int][][]wire.Value{}}
			p.showTables(reading)
		default:
			p.showPreview(reading, preview)
		}
	}
	if _, err := platform.Connect(ctx, client, credentials, &options); err != nil && ctx.Err() == nil {
		p.feed.put("panel-tables", p.render("tables.html", tablesView{Problem: said(err)}))
		p.feed.put("panel-ask", p.render("ask.html", askView{}))
	}
}

// showTables shows what was discovered. From now on, the page can ask.
func (p *page) showTables(c *connected) {
	v := tablesView{Warnings: slices.Concat(c.Warnings, c.Notes), Tables: c.Tables, Enforced: c.Document.Capabilities.KeysEnforced}
	if len(c.Tables) == 0 {
		v.Waiting = "The connector lists no tables for these credentials."
	}
	p.feed.put("panel-tables", p.render("tables.html", v))
	p.feed.put("panel-ask", p.render("ask.html", p.newAskView(c.Tables)))
	p.connection.Store(c)
}

// showPreview shows the first rows of a table and its size.
func (p *page) showPreview(c *connected, preview *platform.Preview) {
	i := slices.IndexFunc(c.entities, func(e *entity.Entity) bool { return e.Table == preview.Table })
	v := rowsView{Problem: said(preview.RowsErr)}
	if preview.RowsErr == nil {
		v = c.pageView(i, preview.Rows, 0, nil)
		c.mu.Lock()
		c.first[i] = preview.Rows
		c.mu.Unlock()
	}
	p.feed.put(fmt.Sprint("rows-", i), p.render("rows.html", &v))
	c.entities[i].Previewed(preview)
	p.feed.put(fmt.Sprint("size-", i), p.render("text.html", sizeText(preview.Size, preview.SizeErr)))
	p.showNotes(c, i)
}

// showNotes shows what the measurements of a table contradict.
func (p *page) showNotes(c *connected, table int) {
	p.feed.put(fmt.Sprint("notes-", table), p.render("notes.html", c.entities[table].Notes()))
}

func sizeText(size *wire.Size, err error) string {
	switch {
	case err != nil:
		return said(err)
	case size.Exact:
		return counted(size.Rows, "row", "rows")
	}
	return "about " + counted(size.Rows, "row", "rows")
}

// measurement is what a button of the panel Tables measures.
type measurement struct {
	Kind  string `json:"kind"` // column, grain or link
	Table int    `json:"table"`
	Index int    `json:"index"` // of the column or the foreign key
}

// measure takes a measurement and shows it.
func (p *page) measure(w http.ResponseWriter, r *http.Request) {
	var m measurement
	if !receive(w, r, &m) {
		return
	}
	c := p.connection.Load()
	if c == nil || m.Table < 0 || m.Table >= len(c.Tables) {
		http.Error(w, "no such table", http.StatusNotFound)
		return
	}
	e := c.entities[m.Table]
	place := fmt.Sprintf("%s-%d-%d", m.Kind, m.Table, m.Index)
	var text string
	var err error
	switch {
	case m.Kind == "grain":
		place = fmt.Sprint("grain-", m.Table)
		text, err = grainText(r.Context(), e)
	case m.Kind == "column" && m.Index >= 0 && m.Index < len(e.Table.Fields):
		text, err = columnText(r.Context(), e, e.Table.Fields[m.Index].Name)
	case m.Kind == "link" && m.Index >= 0 && m.Index < len(e.Table.ForeignKeys):
		text, err = p.linkText(r.Context(), e, m.Index)
	default:
		http.Error(w, "no such measurement", http.StatusNotFound)
		return
	}
	if p.connection.Load() == c { // not reconnected in the meantime
		v := measured{Text: text}
		if err != nil {
			v = measured{Text: said(err), Again: encoded(m)}
		}
		p.feed.put(place, p.render("measured.html", v))
		p.showNotes(c, m.Table)
	}
	answer(w, struct{}{})
}

// measured is what the page shows of a measurement.
type measured struct {
	Text  string
	Again string // the measurement, if it failed and can be taken again
}

func columnText(ctx context.Context, e *entity.Entity, column string) (string, error) {
	counts, err := e.Counts(ctx, column)
	if err != nil {
		return "", err
	}
	return grouped(counts[column].Distinct) + " / " + grouped(counts[column].NonNull), nil
}

func grainText(ctx context.Context, e *entity.Entity) (string, error) {
	column, err := e.Grain(ctx)
	if err != nil || column != "" {
		return column + ": it is never empty, and no value stands in it twice", err
	}
	if size, err := e.Size(ctx); err == nil && size.Rows == 0 {
		return "there are no rows", nil
	}
	return "no single column does", nil
}

func (p *page) linkText(ctx context.Context, e *entity.Entity, position int) (string, error) {
	link, err := e.Link(ctx, position)
	if err != nil {
		return "", err
	}
	rate := link.HitRate
	text := fmt.Sprintf("%s of %s without a match", grouped(rate.OrphanCount), grouped(rate.FromNonNull))
	for i, sample := range rate.OrphanSamples[:min(3, len(rate.OrphanSamples))] {
		text += map[bool]string{true: ", such as ", false: ", "}[i == 0] + short(p.clean(sample), 40)
	}
	if !link.Joined {
		text += "; the platform does not link the tables by it"
	}
	return text, nil
}
