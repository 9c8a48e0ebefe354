package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"time"
)

// library knows the tables in all folders. It describes a file when it is
// first asked for, and again when the file or its sidecar has changed, and
// remembers the description under the file's place; never under, or with
// anything of, a request's credentials (G11).
type library struct {
	root *root
	// life ends with the process. A description outlives the request that
	// asked for it: a large file may need longer than one request may last.
	life   context.Context
	tables memo[place, basis, *description]
	links  memo[linkPlace, linkBasis, string]
}

// place is where a file stands.
type place struct{ tenant, file string }

// basis is what a description was made of.
type basis struct {
	info    fs.FileInfo
	sidecar sidecarText
	started time.Time
}

// sidecarText is a sidecar as it was read, or why it could not be.
type sidecarText struct{ content, problem string }

// linkPlace and linkBasis are the same for a foreign key between two tables.
type linkPlace struct {
	tenant, table, field, targetTable, targetField string
}
type linkBasis struct{ from, to *description }

func newLibrary(life context.Context, r *root) *library {
	slots := make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	l := &library{root: r, life: life}
	l.tables.slots, l.links.slots = slots, slots
	return l
}

// settle is how long a file must have rested before its size and time are
// trusted to tell a change: a second write within one tick of the file
// system's clock leaves both as they were. FAT counts in steps of two seconds.
const settle = 2 * time.Second

func (b basis) same(now basis) bool {
	return b.sidecar == now.sidecar && sameVersion(b.info, now.info)
}

func (b basis) settled() bool {
	rested := b.started.Sub(b.info.ModTime())
	return rested >= settle || rested <= -settle // a clock of the future says nothing
}

func (b linkBasis) same(now linkBasis) bool { return b == now }
func (b linkBasis) settled() bool           { return true }

// find describes the table of that name; nil when the folder has none.
func (l *library) find(ctx context.Context, f *folder, table string) (*description, error) {
	t, ok, err := f.table(table)
	if err != nil || !ok {
		return nil, err
	}
	d, err := l.describe(ctx, f, t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it went since it was listed
	}
	return d, err
}

// describe is the description of a file as it is now. A file that is being
// written to is tried again.
func (l *library) describe(ctx context.Context, f *folder, t tableFile) (d *description, err error) {
	for range 3 {
		var info fs.FileInfo
		if info, err = f.stat(t.file); err == nil {
			now := basis{info, f.sidecar(t.table), time.Now()}
			d, err = l.tables.get(ctx, place{f.name, t.file}, now, func() (*description, error) {
				return l.explore(f.name, t, now)
			})
		}
		if !errors.Is(err, errChanged) {
			break
		}
	}
	var unreadable *fault
	if errors.As(err, &unreadable) {
		return &description{tableFile: t, fault: unreadable}, nil
	}
	return d, err
}

// sidecar is the sidecar of a table; empty when it has none.
func (f *folder) sidecar(table string) sidecarText {
	name := table + sidecarExtension
	if _, err := fs.Lstat(f.files, name); errors.Is(err, fs.ErrNotExist) {
		return sidecarText{}
	}
	content, err := f.small(name, maxSidecar)
	switch {
	case err != nil:
		return sidecarText{problem: fmt.Sprintf("%s is not read: %s", name, reason(err))}
	case len(content) == 0:
		return sidecarText{problem: name + " is empty; write a JSON object into it or remove it"}
	}
	return sidecarText{content: string(content)}
}

// reason is an error about a file as a tenant may see it: without the path,
// which may tell about the host.
func reason(err error) string {
	var where *fs.PathError
	var found *fault
	switch {
	case errors.Is(err, errChanged):
		return errChanged.Error()
	case errors.As(err, &found):
		return found.problem
	case errors.As(err, &where):
		return where.Err.Error()
	}
	return err.Error()
}

// explore describes a file from scratch.
func (l *library) explore(tenant string, t tableFile, now basis) (*description, error) {
	f, err := l.root.enter(tenant)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }()
	opened, err := f.openFile(t.file)
	if err != nil {
		return nil, err
	}
	defer opened.close()
	if !sameVersion(opened.info, now.info) {
		return nil, fmt.Errorf("%s: %w", t.file, errChanged)
	}
	var side *sidecar
	var warnings []string
	switch text := now.sidecar; {
	case text.problem != "":
		warnings = []string{text.problem}
	case text.content != "":
		if side, err = parseSidecar(t.table+sidecarExtension, []byte(text.content)); err != nil {
			warnings = []string{err.Error() + "; nothing of the file is applied"}
		}
	}
	return describe(l.life, t, opened, side, warnings)
}

// open opens the file of a description that is current, for its rows to be
// read. The caller closes the file.
func (l *library) open(ctx context.Context, f *folder, table string) (*description, *file, error) {
	for range 3 {
		d, err := l.find(ctx, f, table)
		if err != nil || d == nil || d.fault != nil {
			return d, nil, err
		}
		opened, err := f.openFile(d.file)
		if err != nil {
			return nil, nil, err
		}
		if sameVersion(opened.info, d.info) {
			return d, opened, nil
		}
		opened.close()
	}
	return nil, nil, fmt.Errorf("table %q: %w", table, errChanged)
}

// forget drops what is known of files that a folder has no longer.
func (l *library) forget(tenant string, tables []tableFile) {
	l.tables.drop(func(p place) bool {
		return p.tenant == tenant && !slices.ContainsFunc(tables, func(t tableFile) bool { return t.file == p.file })
	})
	l.links.drop(func(p linkPlace) bool {
		return p.tenant == tenant && !slices.ContainsFunc(tables, func(t tableFile) bool { return t.table == p.table })
	})
}

// memo computes things once for as long as what they were made of stays the
// same. Whoever asks while one is computed waits for it.
type memo[K comparable, B made[B], V any] struct {
	slots   chan struct{} // bounds how many are computed at once
	mu      sync.Mutex
	entries map[K]*entry[B, V]
}

// made is what a thing was made of.
type made[B any] interface {
	same(now B) bool // by all that can be told
	settled() bool   // what can be told is enough
}

type entry[B, V any] struct {
	basis B
	done  chan struct{}
	value V
	err   error
}

// get is the value for a key. Waiting for it ends with ctx; the computation
// goes on for the next who asks. A computation that fails is not remembered.
func (m *memo[K, B, V]) get(ctx context.Context, key K, now B, compute func() (V, error)) (V, error) {
	m.mu.Lock()
	e := m.entries[key]
	if e == nil || !e.basis.same(now) || e.over() && !e.basis.settled() {
		e = &entry[B, V]{basis: now, done: make(chan struct{})}
		if m.entries == nil {
			m.entries = map[K]*entry[B, V]{}
		}
		m.entries[key] = e
		go m.run(key, e, compute)
	}
	m.mu.Unlock()
	select {
	case <-e.done:
		return e.value, e.err
	case <-ctx.Done():
		var none V
		return none, context.Cause(ctx)
	}
}

// over reports whether the computation has ended.
func (e *entry[B, V]) over() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

func (m *memo[K, B, V]) run(key K, e *entry[B, V], compute func() (V, error)) {
	e.err = errors.New("the computation did not return")
	defer func() {
		// A fault in here must not end the service of all other tables.
		if p := recover(); p != nil {
			e.err = fmt.Errorf("panic: %v", p)
		}
		if e.err != nil {
			m.mu.Lock()
			if m.entries[key] == e {
				delete(m.entries, key)
			}
			m.mu.Unlock()
		}
		close(e.done)
	}()
	m.slots <- struct{}{}
	defer func() { <-m.slots }()
	e.value, e.err = compute()
}

// drop forgets entries.
func (m *memo[K, B, V]) drop(gone func(K) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.entries {
		if gone(key) {
			delete(m.entries, key)
		}
	}
}
