package oracle

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Verify compares the final rows of a query with the right answer and returns
// nil if they agree. The cells of a row are in the order of the request's fields,
// followed by those of its joins. Rows that tie may be in any order, and a
// window that cuts through a tie may contain any of its rows.
//
// If the request must be refused, every answer differs.
func Verify(tables Tables, req *wire.QueryRequest, got [][]wire.Value) *Difference {
	return Reading{}.Verify(tables, req, got)
}

// Verify does what the function [Verify] does, under another reading of the
// protocol.
func (r Reading) Verify(tables Tables, req *wire.QueryRequest, got [][]wire.Value) *Difference {
	right, err := r.matching(tables, req)
	if err != nil {
		return refused(err, len(got))
	}
	projection, err := projection(right.table, req)
	if err != nil {
		return refused(err, len(got))
	}
	all := project(right.table, projection)
	v := &verification{columns: all.Columns, matching: all.Rows, ties: right.ties, got: got}
	v.from, v.to = window(len(all.Rows), req)
	v.spell()

	for i, row := range got {
		if len(row) != len(v.columns) {
			return &Difference{
				Detail:   fmt.Sprintf("row %d has %s", i, count(len(row), "cell")),
				Expected: count(len(v.columns), "cell"), Received: showRow(row, v.columns),
			}
		}
	}
	if d := v.unexpected(); d != nil {
		return v.explained(d, r, tables, req)
	}
	if d := v.missing(); d != nil {
		return d
	}
	return v.misplaced()
}

// verification compares an answer with all rows that match, in order.
type verification struct {
	columns  []wire.Column
	matching [][]wire.Value
	ties     []int // for each matching row, the index after the rows it ties with
	from, to int   // the window
	got      [][]wire.Value

	matchingText, gotText []string // canonical
	unexpectedRow         int      // the row that unexpected found
}

func (v *verification) spell() {
	v.matchingText = canonicalRows(v.matching, v.columns)
	v.gotText = canonicalRows(v.got, v.columns)
}

func canonicalRows(rows [][]wire.Value, columns []wire.Column) []string {
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = canonicalRow(row, columns)
	}
	return texts
}

// unexpected returns a difference for the first row that does not match, or
// that the answer repeats too often.
func (v *verification) unexpected() *Difference {
	left := tally(v.matchingText)
	for i, text := range v.gotText {
		left[text]--
		if left[text] >= 0 {
			continue
		}
		v.unexpectedRow = i
		known := tally(v.matchingText)[text]
		d := &Difference{
			Detail:   fmt.Sprintf("row %d is not among the rows of the answer", i),
			Expected: "one of " + count(len(v.matching), "matching row"), Received: showRow(v.got[i], v.columns),
		}
		if at := v.from + i; known == 0 && at < v.to {
			d.Expected = showRow(v.matching[at], v.columns)
		}
		if known > 0 {
			d.Detail = fmt.Sprintf("row %d is answered more often than it exists", i)
			d.Expected = "this row " + count(known, "time")
		}
		return d
	}
	return nil
}

// explained improves a difference about an unexpected row if the row exists in
// the table and the filters drop it.
func (v *verification) explained(d *Difference, r Reading, tables Tables, req *wire.QueryRequest) *Difference {
	if len(req.And)+len(req.Or) == 0 {
		return d
	}
	unfiltered := *req
	unfiltered.And, unfiltered.Or, unfiltered.Sort = nil, nil, nil
	everything, err := r.matching(tables, &unfiltered)
	if err != nil {
		return d
	}
	columns, err := projection(everything.table, req)
	if err != nil {
		return d
	}
	text := v.gotText[v.unexpectedRow]
	if tally(v.matchingText)[text] == 0 && tally(canonicalRows(project(everything.table, columns).Rows, v.columns))[text] > 0 {
		d.Detail = fmt.Sprintf("row %d is one that the filters drop", v.unexpectedRow)
		d.Expected = count(len(v.matching), "matching row") + " without it"
	}
	return d
}

// missing returns a difference if there are too few or too many rows.
func (v *verification) missing() *Difference {
	want, got := v.to-v.from, len(v.got)
	switch {
	case got == want:
		return nil
	case got > want:
		return &Difference{
			Detail:   fmt.Sprintf("%s too many, beyond the window", count(got-want, "row")),
			Expected: count(want, "row"), Received: count(got, "row"),
		}
	}
	d := &Difference{
		Detail:   fmt.Sprintf("%d of %s missing", want-got, count(want, "row")),
		Expected: count(want, "row"), Received: count(got, "row"),
	}
	if want == len(v.matching) { // without a window, the missing rows are known
		var lost [][]wire.Value
		left := tally(v.gotText)
		for i, text := range v.matchingText {
			if left[text]--; left[text] < 0 {
				lost = append(lost, v.matching[i])
			}
		}
		d.Expected = showRows(lost, v.columns)
		d.Received = count(got, "row") + " without it"
	}
	return d
}

// misplaced returns a difference for the first row that is in the wrong place.
// Rows that tie may take each other's places.
func (v *verification) misplaced() *Difference {
	for begin := 0; begin < v.to; begin = v.ties[begin] {
		end := v.ties[begin]
		if end <= v.from {
			continue
		}
		left := tally(v.matchingText[begin:end])
		for at := max(begin, v.from); at < min(end, v.to); at++ {
			i := at - v.from
			if left[v.gotText[i]]--; left[v.gotText[i]] >= 0 {
				continue
			}
			d := &Difference{
				Detail:   fmt.Sprintf("row %d stands in the wrong place", i),
				Expected: showRow(v.matching[at], v.columns), Received: showRow(v.got[i], v.columns),
			}
			if end-begin > 1 {
				d.Expected += fmt.Sprintf(", or one of the %d rows that tie with it", end-begin-1)
			}
			return d
		}
	}
	return nil
}

func tally(texts []string) map[string]int {
	n := make(map[string]int, len(texts))
	for _, text := range texts {
		n[text]++
	}
	return n
}

func refused(err error, rows int) *Difference {
	return &Difference{Detail: "the request has no answer: " + err.Error(), Expected: "a refusal", Received: count(rows, "row")}
}
