package coverage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Kind is a kind of question that a document declares, as a verdict counts them.
type Kind string

// The kinds. Filters are counted by field and operator: see [Field].
const (
	Filters  Kind = "filters"
	Sorts    Kind = "sorts"    // by each column
	Windows  Kind = "windows"  // of each table
	Groups   Kind = "groups"   // by each column, and by each grain of a date
	Measures Kind = "measures" // each function of each column
	Joins    Kind = "joins"    // along each foreign key
	Links    Kind = "links"    // the hit rate of each foreign key
	Apart    Kind = "tenants"  // each table that two accounts have, asked in turns
)

var kinds = []Kind{Filters, Sorts, Windows, Groups, Measures, Joins, Links, Apart}

// Question is one of a kind: about a table, and about a column of it unless it is about all of them.
type Question struct {
	Kind   Kind   `json:"kind"`
	Table  string `json:"table"`
	Column string `json:"column,omitempty"`
	// How is the operator, the grain, the function or the table at the other end.
	How string `json:"how,omitempty"`
}

// String returns what the question is about, such as orders.total (sum).
func (q Question) String() string {
	text := q.Table
	if q.Column != "" {
		text += "." + q.Column
	}
	if q.How != "" {
		text += " (" + q.How + ")"
	}
	return text
}

// KindCount says how many questions of a kind were asked of all that the document declares.
type KindCount struct {
	Kind  Kind `json:"kind"`
	All   int  `json:"all"`
	Asked int  `json:"asked"`
}

// Declare notes a question that the document and the data allow, of which the verdict says whether it was asked.
func (r *Record) Declare(q Question) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.heard.questions[q] {
		r.heard.questions[q] = false
	}
}

// AddRequest notes which questions a request has asked whose answer was judged.
func (r *Record) AddRequest(m wire.Request) {
	switch m := m.(type) {
	case *wire.QueryRequest:
		for _, k := range m.Sort {
			r.AddQuestion(Question{Sorts, m.Table, k.Field, ""})
		}
		if m.Limit+m.Offset > 0 {
			r.AddQuestion(Question{Windows, m.Table, "", ""})
		}
		for _, h := range m.Joins {
			r.AddQuestion(Question{Joins, h.FromTable, h.FromField, h.ToTable})
			r.AddQuestion(Question{Joins, h.ToTable, h.ToField, h.FromTable}) // it was declared there
		}
	case *wire.AggregateRequest:
		if len(m.Joins) > 0 {
			return // the names may be those of other tables
		}
		for _, k := range m.GroupBy {
			r.AddQuestion(Question{Groups, m.Table, k.Field, string(k.Grain)})
		}
		for _, measure := range m.Measures {
			r.AddQuestion(Question{Measures, m.Table, measure.Field, string(measure.Fn)})
		}
	case *wire.LinkHitRateRequest:
		r.AddQuestion(Question{Links, m.FromTable, m.FromColumn, m.ToTable})
	}
}

// AddQuestion notes that a question was asked.
func (r *Record) AddQuestion(q Question) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, declared := r.heard.questions[q]; declared {
		r.heard.questions[q] = true
	}
}

// addKinds counts the questions of each kind, and lists those that were not asked.
func (c *Report) addKinds(clean func(string) string, questions map[Question]bool) {
	all := map[Kind]*KindCount{}
	count := func(q Question, asked bool) {
		if all[q.Kind] == nil {
			all[q.Kind] = &KindCount{Kind: q.Kind}
		}
		all[q.Kind].All++
		if asked {
			all[q.Kind].Asked++
			return
		}
		q.Table, q.Column, q.How = clean(q.Table), clean(q.Column), clean(q.How)
		c.Unasked = append(c.Unasked, q)
	}
	for q, asked := range questions {
		count(q, asked)
	}
	for _, t := range c.Tables {
		for _, f := range t.Fields {
			for _, op := range c.Operators {
				if f.Filterable && !f.Empty {
					count(Question{Filters, t.Name, f.Name, string(op)}, f.Judged[op] > 0)
				}
			}
		}
	}
	for _, kind := range kinds {
		if all[kind] != nil {
			c.Kinds = append(c.Kinds, *all[kind])
		}
	}
	slices.SortFunc(c.Unasked, func(a, b Question) int {
		if a.Kind != b.Kind {
			return slices.Index(kinds, a.Kind) - slices.Index(kinds, b.Kind)
		}
		return strings.Compare(a.String(), b.String())
	})
}

// kindsText returns the end of a sentence, such as ", 24 of 75 sorts, 12 of 12 windows".
func (c *Report) kindsText() (text string) {
	for _, k := range c.Kinds {
		name := string(k.Kind)
		switch k.Kind {
		case Filters:
			continue // the sentence begins with them
		case Apart:
			name = "tables for both tenants"
		}
		text += fmt.Sprintf(", %s of %s %s", phrase.Thousands(k.Asked), phrase.Thousands(k.All), name)
	}
	return text
}

// wholeShare is the part of the questions of each kind that have to be asked for a verdict without reserve.
const wholeShare = 80 // of a hundred

// Percent returns how many of a hundred questions were asked, of all kinds, and whether enough of each kind were.
func (c *Report) Percent() (percent int, whole bool) {
	asked, all, whole := 0, 0, true
	for _, k := range c.Kinds {
		asked, all = asked+k.Asked, all+k.All
		whole = whole && 100*k.Asked >= wholeShare*k.All
	}
	if all == 0 {
		return 100, true
	}
	return 100 * asked / all, whole
}

// maxNamed is how many questions of a kind a sentence names.
const maxNamed = 5

// NotAsked returns which questions of the kinds that were asked too little were not asked, such as "sorts:
// orders.total, orders.note and 3 more".
func (c *Report) NotAsked() string {
	var parts []string
	for _, k := range c.Kinds {
		if 100*k.Asked >= wholeShare*k.All {
			continue
		}
		var names []string
		for _, q := range c.Unasked {
			if q.Kind == k.Kind {
				names = append(names, terms.QuoteName(q.String()))
			}
		}
		parts = append(parts, fmt.Sprintf("%s: %s", k.Kind, phrase.Some(names, maxNamed)))
	}
	return strings.Join(parts, "; ")
}
