package filesource

import (
	"log/slog"
	"sync"
	"time"
)

// progressEvery is how often Source.Prepare says what it is reading. A folder that
// is read sooner needs no line.
const progressEvery = 5 * time.Second

// progress tells the host's log what is being read, while it takes long.
type progress struct {
	log   *slog.Logger
	since time.Time
	ended chan struct{}
	done  sync.WaitGroup

	mu           sync.Mutex
	tenant, file string
	files        int // begun so far
	told         bool
}

// startProgress begins to write to the log. Call stop when everything is read.
func startProgress(log *slog.Logger) *progress {
	p := &progress{log: log, since: time.Now(), ended: make(chan struct{})}
	p.done.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.tell()
			case <-p.ended:
				return
			}
		}
	})
	return p
}

// reading notes that a file comes next.
func (p *progress) reading(tenant, file string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tenant, p.file = tenant, file
	p.files++
}

func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = true
	p.log.Info("still reading files", "tenant", p.tenant, "file", p.file, "number", p.files, "after", p.after())
}

// stop ends the lines. If there was any, one more says that no more is waited for.
func (p *progress) stop() {
	close(p.ended)
	p.done.Wait()
	if p.told {
		p.log.Info("no longer reading files", "files", p.files, "after", p.after())
	}
}

func (p *progress) after() time.Duration { return time.Since(p.since).Round(time.Second) }
