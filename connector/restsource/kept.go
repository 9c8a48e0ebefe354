package restsource

import (
	"bytes"
	"net/url"
	"slices"
	"sync"
)

// maxKept limits the bytes of the answers that a request keeps for its other tables.
// Those beyond it are asked for again.
const maxKept = 32 << 20

// kept has answers of one join or one discovery that several of its tables are read
// from: two tables over one endpoint, a table and the lists in its rows, the parent of
// two child tables. Each is asked for once.
type kept struct {
	tables map[string]bool // whose answers are kept

	mu      sync.Mutex
	answers map[string]*answer
	size    int
}

// keepShared starts to keep the answers that more than one of these tables is read from.
func (x *session) keepShared(tables []*table) {
	readers := map[string]int{}
	for _, t := range tables {
		for name := range t.sources() {
			readers[name]++
		}
	}
	k := &kept{tables: map[string]bool{}, answers: map[string]*answer{}}
	for _, t := range tables {
		for name, from := range t.sources() {
			// The same request of an export that is being made, or of a scroll, is answered otherwise each time.
			if readers[name] > 1 && from.Job.Create == "" && from.Pages.By != PagingScroll {
				k.tables[from.Name] = true
			}
		}
	}
	if len(k.tables) > 0 {
		x.kept = k
	}
}

// sources returns the tables whose endpoints have to be read for a table: its base, and
// those of its parents. Tables over one endpoint have one name here.
func (t *table) sources() map[string]*table {
	all := map[string]*table{}
	for t = t.base(); ; t = t.parent.base() {
		name := t.Path + "?" + t.Query
		if t.Body != nil || t.GraphQL != "" {
			name = "table " + t.Name // the body of the request decides
		}
		all[name] = t
		if t.parent == nil {
			return all
		}
	}
}

// joinLists sets which lists in the rows of a GraphQL table are asked for together,
// because a join needs all of them.
func (x *session) joinLists(tables []*table) {
	x.together = map[*table][]*table{}
	for _, t := range tables {
		for _, level := range t.levels() {
			if base := t.base(); !slices.Contains(x.together[base], level) {
				x.together[base] = append(x.together[base], level)
			}
		}
	}
}

// of returns the key under which the answer to a request is kept, or "" if it is not.
func (k *kept) of(table string, u *url.URL, body []byte) string {
	if k == nil || !k.tables[table] {
		return ""
	}
	return u.String() + "\n" + string(body)
}

// get returns a kept answer, or nil.
func (k *kept) get(key string) *answer {
	if key == "" {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.answers[key]
	if a == nil {
		return nil
	}
	own := *a
	own.body = bytes.Clone(a.body) // Unwrap may change it
	return &own
}

// put keeps an answer, if there is room.
func (k *kept) put(key string, a *answer) {
	if key == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answers[key] != nil || k.size+len(a.body) > maxKept {
		return
	}
	own := *a
	own.body = bytes.Clone(a.body)
	k.answers[key] = &own
	k.size += len(a.body)
}
