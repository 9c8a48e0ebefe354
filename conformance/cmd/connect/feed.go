package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// feed keeps the latest content of each changing part of the page, and tells the page of
// changes by server-sent events. A page that is opened, or whose connection broke, gets what
// has changed since.
type feed struct {
	mu       sync.Mutex
	parts    map[string]patch
	revision int
	changed  chan struct{} // closed at the next change
	closed   chan struct{}
}

// patch is the content of one element of the page.
type patch struct {
	ID       string `json:"id"`
	HTML     string `json:"html"`
	revision int
}

func (f *feed) init() {
	f.parts, f.changed, f.closed = map[string]patch{}, make(chan struct{}), make(chan struct{})
}

func (f *feed) close() { close(f.closed) }

// put sets the content of an element of the page.
func (f *feed) put(id, html string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old, ok := f.parts[id]; ok && old.HTML == html {
		return
	}
	f.revision++
	f.parts[id] = patch{ID: id, HTML: html, revision: f.revision}
	close(f.changed)
	f.changed = make(chan struct{})
}

// clear forgets all contents, because they are about an earlier source. The page replaces them
// as new ones come.
func (f *feed) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.parts)
}

// since returns what has changed after a revision, oldest first, and a channel that is closed
// when more follows.
func (f *feed) since(revision int) ([]patch, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []patch
	for _, p := range f.parts {
		if p.revision > revision {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b patch) int { return cmp.Compare(a.revision, b.revision) })
	return list, f.changed
}

// pause is the least time between two events: progress comes faster than anybody reads.
const pause = 100 * time.Millisecond

// events sends the changing parts of the page as server-sent events.
func (p *page) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	revision, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	for {
		patches, changed := p.feed.since(revision)
		for _, patch := range patches {
			data, err := json.Marshal(patch)
			if err != nil {
				panic(err) // two strings
			}
			revision = patch.revision
			if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", revision, data); err != nil {
				return
			}
		}
		if err := out.Flush(); err != nil {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-p.feed.closed:
			return
		}
		select {
		case <-time.After(pause):
		case <-r.Context().Done():
			return
		}
	}
}
