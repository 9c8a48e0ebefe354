package duckdb

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"sync"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"
)

// How many folders keep their engine while nobody asks for them, and for how long.
const (
	idleInstances = 16
	idleTime      = time.Minute
)

// instances keeps the engines of folders: one for each folder that is being read, and
// for some time after. Opening one takes longer than most requests. A folder's engine
// reads that folder and nothing else, so no two folders share one.
type instances struct {
	// open opens an engine for a folder.
	open  func(dir string, r *readings) (engine, error)
	known *known

	mu    sync.Mutex
	byDir map[string]*instance
	idle  []*instance // whose last request ended; the oldest first
}

// engine makes connections to an open engine.
type engine interface {
	Connect(ctx context.Context) (sqldriver.Conn, error)
	io.Closer
}

// instance is the engine of a folder. The lock of instances guards users, retired, files
// and timer.
type instance struct {
	dir  string
	open func() (engine, error) // once

	readings *readings // that requests have open

	users   int
	retired bool         // no more requests: the last one closes it
	fresh   bool         // some request has found a fresh file
	files   fingerprints // that requests have read
	timer   *time.Timer  // closes it when it has been idle
}

// newInstances returns no engines yet.
func newInstances(o *FolderOptions) *instances {
	return &instances{
		open:  func(dir string, r *readings) (engine, error) { return openEngine(dir, o, r) },
		known: newKnown(o),
		byDir: map[string]*instance{},
	}
}

// lease returns the engine of a folder, for a request that has found these files there.
// The caller releases it. An engine keeps what it knows of a file, so one that has read
// another version of a file is not used again, and neither is one that cannot tell.
func (p *instances) lease(dir string, files fingerprints) (*instance, engine, error) {
	p.mu.Lock()
	i := p.byDir[dir]
	if i != nil && (i.fresh || !i.files.learn(files)) {
		p.retire(i)
		i = nil
	}
	if i == nil {
		r := &readings{open: map[int64]*reading{}}
		i = &instance{dir: dir, files: fingerprints{}, readings: r, open: sync.OnceValues(func() (engine, error) { return p.open(dir, r) })}
		i.files.learn(files)
		p.byDir[dir] = i
	}
	i.fresh = files.fresh(time.Now())
	p.busy(i)
	i.users++
	p.mu.Unlock()
	e, err := i.open()
	if err != nil {
		p.dismiss(i)
		p.release(i)
		return nil, nil, err
	}
	return i, e, nil
}

// release gives back a leased engine.
func (p *instances) release(i *instance) {
	if over := p.giveBack(i); over != nil {
		over.close()
	}
}

// giveBack ends a lease, and returns the instance that is to be closed, if there is one.
func (p *instances) giveBack(i *instance) (over *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i.users--; i.users > 0 {
		return nil
	}
	if i.retired {
		return i
	}
	p.idle = append(p.idle, i)
	i.timer = time.AfterFunc(idleTime, func() { p.expire(i) })
	if len(p.idle) <= idleInstances {
		return nil
	}
	over = p.idle[0]
	p.retire(over)
	return over
}

// expire closes an engine that nobody has used for a while.
func (p *instances) expire(i *instance) {
	p.mu.Lock()
	over := i.users == 0 && !i.retired
	if over {
		p.retire(i)
	}
	p.mu.Unlock()
	if over {
		i.close()
	}
}

// dismiss lets nobody lease an engine any more.
func (p *instances) dismiss(i *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retire(i)
}

// retire takes an engine out of those that are leased. The lock is held.
func (p *instances) retire(i *instance) {
	i.retired = true
	if p.byDir[i.dir] == i {
		delete(p.byDir, i.dir)
	}
	p.busy(i)
}

// busy takes an engine out of the idle ones. The lock is held.
func (p *instances) busy(i *instance) {
	for n, other := range p.idle {
		if other == i {
			p.idle = append(p.idle[:n], p.idle[n+1:]...)
			i.timer.Stop()
			return
		}
	}
}

func (i *instance) close() {
	if e, err := i.open(); err == nil {
		_ = e.Close()
	}
}

// openEngine opens an engine that reads a folder.
func openEngine(dir string, o *FolderOptions, r *readings) (engine, error) {
	c, err := driver.NewConnector("", nil)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.register(unclosed{c}), prepare(c, fence(dir, o))); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// unclosed is an engine that a database on it does not close.
type unclosed struct{ sqldriver.Connector }

// prepare runs statements on a connection of an engine.
func prepare(c engine, statements []string) error {
	conn, err := c.Connect(context.Background())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for _, statement := range statements {
		if _, err := conn.(sqldriver.ExecerContext).ExecContext(context.Background(), statement, nil); err != nil {
			return err
		}
	}
	return nil
}

// isBroken reports whether an engine answers nothing any more after an error.
func isBroken(err error) bool {
	var own *driver.Error
	return errors.As(err, &own) && (own.Type == driver.ErrorTypeFatal || own.Type == driver.ErrorTypeInternal)
}
