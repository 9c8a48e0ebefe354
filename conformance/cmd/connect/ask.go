package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Limits of what the panel Ask shows. What lies beyond is counted.
const (
	shownRows  = 200
	shownSteps = 200
	shownText  = 2000 // bytes of a line or a request
)

// askView is the panel Ask. Tables are those of discovery as JSON, with which the page's script
// builds the form. Labels are the names that are not shown as they are, and how they are shown.
type askView struct{ Tables, Labels string }

func (p *page) newAskView(tables []wire.Table) askView {
	if len(tables) == 0 {
		return askView{}
	}
	type field struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	type table struct {
		Name        string            `json:"name"`
		Fields      []field           `json:"fields"`
		ForeignKeys []wire.ForeignKey `json:"foreignKeys"`
	}
	list, labels := []table{}, map[string]string{}
	label := func(name string) string {
		if shown := p.legible(name); shown != name {
			labels[name] = shown
		}
		return name
	}
	for _, t := range tables {
		own := table{Name: label(t.Name), ForeignKeys: append([]wire.ForeignKey{}, t.ForeignKeys...)}
		for _, f := range t.Fields {
			own.Fields = append(own.Fields, field{label(f.Name), kind(f.Type)})
		}
		for _, key := range t.ForeignKeys { // which may name what discovery does not list
			_, _, _ = label(key.Field), label(key.TargetTable), label(key.TargetField)
		}
		list = append(list, own)
	}
	return askView{encoded(list), encoded(labels)}
}

// preview shows a question as a request.
func (p *page) preview(w http.ResponseWriter, r *http.Request) {
	a, c := p.question(w, r, true)
	if a == nil {
		return
	}
	v, err := a.show(c)
	if err != nil {
		v = &shown{Problem: p.legible(said(err))}
	}
	v.JSON, v.Curl = p.legible(v.JSON), p.legible(v.Curl) // which have names of the source's
	answer(w, v)
}

// question reads a question that the page has sent. If it returns nil, it has answered. What is
// wrong with the question is then part of the answer if the page asked for a preview.
func (p *page) question(w http.ResponseWriter, r *http.Request, preview bool) (*asked, *connected) {
	var q question
	if !receive(w, r, &q) {
		return nil, nil
	}
	c := p.connection.Load()
	if c == nil {
		http.Error(w, "no connector is connected", http.StatusConflict)
		return nil, nil
	}
	a, err := q.ask(c.Tables)
	switch {
	case err == nil:
		return a, c
	case preview:
		var more unfinished
		answer(w, shown{Problem: p.legible(said(err)), Unfinished: errors.As(err, &more)})
	default:
		http.Error(w, p.legible(said(err)), http.StatusBadRequest)
	}
	return nil, nil
}

// ask answers a question. It writes one JSON object a line, each with what an element of the page
// now contains, so that the page shows the stream as it arrives.
func (p *page) ask(w http.ResponseWriter, r *http.Request) {
	a, c := p.question(w, r, false)
	if a == nil {
		return
	}
	w.Header().Set("Content-Type", terms.MediaNDJSON)
	s := &screen{page: p, w: w, out: http.NewResponseController(w), began: time.Now()}
	s.put("ask-answer", p.render("asking", nil))
	result := a.answer(r, c.Observed(s.step), nil)
	result.Savable = result.Problem == ""
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.steps > shownSteps {
		s.add("ask-lines", p.render("step", stepView{Text: fmt.Sprintf("and %s more", grouped(int64(s.steps-shownSteps)))}))
	}
	v := result.work(time.Since(s.began))
	v.Requests = fmt.Sprint(s.requests) // those of a question that has no answer too
	s.write(part{ID: "ask-work", HTML: p.render("work", v)})
	s.write(part{ID: "ask-rows", HTML: p.render("rows.html", &result.rowsView)})
}

// screen writes what the answer of /ask consists of.
type screen struct {
	page  *page
	out   *http.ResponseController
	began time.Time

	mu       sync.Mutex
	w        http.ResponseWriter
	steps    int
	requests int
}

// part is what an element of the page contains, or what is appended to it.
type part struct {
	ID     string `json:"id"`
	HTML   string `json:"html"`
	Append bool   `json:"append"`
}

func (s *screen) put(id, html string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(part{ID: id, HTML: html})
}

func (s *screen) add(id, html string) { s.write(part{ID: id, HTML: html, Append: true}) }

func (s *screen) write(p part) {
	_ = json.NewEncoder(s.w).Encode(p) // the request's context ends when nobody reads
	_ = s.out.Flush()
}

// stepView is one line of the list of what crossed the wire.
type stepView struct{ At, Kind, Text string }

// step shows one step of a request.
func (s *screen) step(step platform.Step) {
	v := stepView{At: milliseconds(time.Since(s.began))}
	switch step.Kind {
	case "sent":
		v.Kind = "→ " + step.Path
		v.Text = strings.Replace(short(string(step.Request), shownText), `"credentials":{}`, `"credentials":…`, 1)
	case "answered":
		v.Kind, v.Text = "← status", fmt.Sprint(step.Status)
	case "text":
		v.Kind, v.Text = "← "+lineKind(step.Text), short(s.page.clean(step.Text), 240)
		if step.Bytes > len(v.Text) {
			v.Text += fmt.Sprintf(" (%s bytes)", grouped(int64(step.Bytes)))
		}
	case "done":
		if step.Err == nil {
			return
		}
		v.Kind, v.Text = "✗", said(step.Err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if step.Kind == "sent" {
		s.requests++
	}
	if s.steps++; s.steps <= shownSteps {
		s.add("ask-lines", s.page.render("step", v))
	}
}

// lineKind returns the kind of a line of a stream, or "answer" for another body.
func lineKind(text string) string {
	compact := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(text, " \t"), "{"), " \t")
	for _, kind := range []string{"served", "rows", "ping", "end", "error"} {
		if strings.HasPrefix(compact, `"`+kind+`"`) {
			return kind
		}
	}
	return "answer"
}

// milliseconds returns a time with a fixed unit, so that times below each other compare.
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// result is an answer with how it came about.
type result struct {
	rowsView
	platform.Stats
	parts    []wanted
	answered int64
	save     io.Writer // if not nil, takes all rows as CSV; otherwise the first are kept
}

// take takes the rows of the answer.
func (res *result) take(columns []wire.Column, rows iter.Seq2[[]wire.Value, error]) error {
	if res.Columns = columns; res.save != nil {
		return platform.WriteCSV(res.save, columns, rows)
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if res.answered++; res.answered > shownRows {
			continue
		}
		res.Rows = append(res.Rows, relation.KeepRow(row))
	}
	return nil
}

// listedRows returns rows that are there already as a sequence.
func listedRows(rows ...[]wire.Value) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// wanted is a part of a question, and whether it was done on this side.
type wanted struct {
	what string
	here *bool
}

// want notes the parts that the question has.
func (res *result) want(where wire.Where, joins []wire.JoinHop) {
	if where.HasFilters() {
		res.parts = append(res.parts, wanted{"filters", &res.Filtered})
	}
	if len(joins) > 0 {
		res.parts = append(res.parts, wanted{"linked tables", &res.Joined})
	}
}

// answer asks the question through a connection. The rows go to save if it is not nil.
func (a *asked) answer(r *http.Request, c *platform.Connection, save io.Writer) *result {
	res := &result{save: save}
	err := error(nil)
	switch {
	case a.count != nil:
		var n int64
		n, res.Stats, err = c.Count(r.Context(), a.count)
		res.want(a.count.Where, nil)
		res.parts = append(res.parts, wanted{"count", &res.Counted})
		if err == nil {
			err = res.take([]wire.Column{{Name: "count", Type: wire.TypeNumber}}, listedRows([]wire.Value{wire.Int(n)}))
		}
	case a.groups != nil:
		var groups *platform.Groups
		if a.top > 0 {
			by := []wire.SortKey{{Field: a.groups.Measures[a.topBy].As, Dir: wire.Desc}}
			groups, err = c.Top(r.Context(), a.groups, by, a.top)
		} else {
			groups, err = c.Aggregate(r.Context(), a.groups)
		}
		res.want(a.groups.Where, a.groups.Joins)
		res.parts = append(res.parts, wanted{"groups and figures", &res.Folded})
		if err == nil {
			res.Stats = groups.Stats
			err = res.take(groups.Columns, listedRows(groups.Rows...))
		}
	default:
		err = res.read(r, c, a.query)
	}
	if err != nil {
		res.rowsView = rowsView{Problem: said(err)}
		res.answered = 0
		return res
	}
	res.Note = counted(res.answered, "row", "rows")
	if more := res.answered - int64(len(res.Rows)); more > 0 {
		res.Note += fmt.Sprintf(", of which the first %d are shown", len(res.Rows))
	}
	return res
}

// read reads the rows of a query to their end and keeps the first.
func (res *result) read(r *http.Request, c *platform.Connection, query *wire.QueryRequest) error {
	answer, err := c.Query(r.Context(), query)
	if err != nil {
		return err
	}
	defer func() { res.Stats = answer.Stats }()
	res.want(query.Where, query.Joins)
	if len(query.Sort) > 0 {
		res.parts = append(res.parts, wanted{"order", &res.Sorted})
	}
	if query.Limit > 0 || query.Offset > 0 {
		res.parts = append(res.parts, wanted{"number of rows", &res.Windowed})
	}
	err = res.take(answer.Columns, answer.All())
	if table := slices.IndexFunc(c.Tables, func(t wire.Table) bool { return t.Name == query.Table }); table >= 0 {
		res.filters(table, &c.Tables[table], query.Fields)
	}
	return err
}

// workView says who did what for an answer.
type workView struct {
	Served, Finished, RowsRead, RowsAnswered, Requests, Time string
	Notes                                                    []string
	Failed                                                   bool // only requests and time are known
}

func (res *result) work(took time.Duration) workView {
	v := workView{
		RowsRead: grouped(res.RowsRead), RowsAnswered: grouped(res.answered), Time: milliseconds(took),
		Failed: res.Problem != "", Notes: res.Notes,
	}
	var served, finished []string
	for _, part := range res.parts {
		if *part.here {
			finished = append(finished, part.what)
		} else {
			served = append(served, part.what)
		}
	}
	v.Served, v.Finished = listed(served), listed(finished)
	return v
}

func listed(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}
