package coverage

import (
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Record notes what a run asks, while it asks.
type Record struct {
	mu sync.Mutex
	Counts
	heard, other heard // of the account that is asked now, and of the other
}

// heard is what was asked of one account.
type heard struct {
	filters   map[fieldOf]map[wire.Op]*askedFor
	rows      map[string]int    // table -> the most rows that one answer held
	questions map[Question]bool // those that were declared, and whether they were asked
}

// NewRecord returns the record of a run that has asked nothing yet.
func NewRecord() *Record { return &Record{heard: newHeard(), other: newHeard()} }

// Turn swaps the two accounts. The counts stay.
func (r *Record) Turn() { r.heard, r.other = r.other, r.heard }

func newHeard() heard {
	return heard{map[fieldOf]map[wire.Op]*askedFor{}, map[string]int{}, map[Question]bool{}}
}

// Counts are the figures of a [Record].
type Counts struct {
	Requests  int   `json:"requests"`
	Streams   int   `json:"streams"`   // requests answered by a stream
	Rows      int64 `json:"rows"`      // rows read
	Bytes     int64 `json:"bytes"`     // bytes of answers read
	Generated int   `json:"generated"` // generated requests judged
	Telling   int   `json:"telling"`   // those of them that kept some rows and dropped others
}

type fieldOf struct{ table, field string }

// askedFor is how often filters of a field with one operator were judged and, for
// operators that test equality, which values they named.
type askedFor struct {
	kind     wire.Type // of the field
	times    int
	seen     map[string]bool
	operands []wire.Value
}

// maxOperands limits how many operands of a field are remembered: more than a field has
// values that are counted, because some are not in the data.
const maxOperands = 20 * exam.MaxValues

// Add changes the counts.
func (r *Record) Add(change func(*Counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.Counts)
}

// AddFilters counts the filters of a judged request by table, field, type and operator,
// and notes the values that they name. A table with a judged filter counts as judged.
func (r *Record) AddFilters(t *oracle.Table, where wire.Where) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for f := range where.Filters() {
		kind := wire.Type("undeclared")
		if i := t.Index(f.Field); i >= 0 && t.Columns[i].Type != "" {
			kind = t.Columns[i].Type
		}
		at := fieldOf{t.Name, f.Field}
		if r.heard.filters[at] == nil {
			r.heard.filters[at] = map[wire.Op]*askedFor{}
		}
		asked := r.heard.filters[at][f.Op]
		if asked == nil {
			asked = &askedFor{kind: kind, seen: map[string]bool{}}
			r.heard.filters[at][f.Op] = asked
		}
		asked.add(&f)
	}
}

func (a *askedFor) add(f *wire.Filter) {
	a.times++
	operands := f.Values
	if f.Op == wire.OpEq {
		operands = []wire.Value{f.Value}
	} else if f.Op != wire.OpIn {
		return
	}
	for _, v := range operands {
		if key := v.String(); !a.seen[key] && len(a.operands) < maxOperands {
			a.seen[key] = true
			a.operands = append(a.operands, v)
		}
	}
}

// byType returns how many filters were judged, by operator and type, such as "eq number".
func (r *Record) byType() map[string]int {
	all := map[string]int{}
	for _, of := range r.heard.filters {
		for op, asked := range of {
			all[string(op)+" "+string(asked.kind)] += asked.times
		}
	}
	return all
}

// AddRows records that an answer held rows of a table.
func (r *Record) AddRows(table string, rows int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard.rows[table] = max(r.heard.rows[table], rows)
}
