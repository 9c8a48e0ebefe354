package standalone

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is the certificate of a program that serves https. It is read again when
// its files change, so that a renewed one takes effect without a restart.
type certificate struct {
	certFile, keyFile string
	logger            *slog.Logger

	mu    sync.Mutex
	pair  *tls.Certificate
	state [2]fileState // of the files when they were last read
}

// fileState tells whether a file was written since it was read.
type fileState struct {
	changed time.Time
	size    int64
}

// secure returns the settings of TLS, or nil if the program names no files.
func (p *Program) secure() (*tls.Config, error) {
	if p.CertFile == "" && p.KeyFile == "" {
		return nil, nil
	}
	if p.CertFile == "" || p.KeyFile == "" {
		return nil, errors.New("a certificate and its key: name the files of both, or none")
	}
	c := &certificate{certFile: p.CertFile, keyFile: p.KeyFile, logger: slog.Default()}
	if p.Options != nil {
		c.logger = cmp.Or(p.Options.Logger, c.logger)
	}
	if err := c.read(c.look()); err != nil {
		return nil, fmt.Errorf("the certificate and its key: %w", err)
	}
	return &tls.Config{
		GetCertificate: c.current,
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
	}, nil
}

// current returns the certificate for a new connection. While the files cannot be read,
// or do not belong together yet, it is the one that was read before.
func (c *certificate) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state := c.look(); state != c.state {
		if err := c.read(state); err != nil {
			c.logger.Warn("connector: a changed certificate cannot be read; the old one is served", "error", err)
		} else {
			c.logger.Info("connector: serving the changed certificate")
		}
	}
	return c.pair, nil
}

// read takes the files as they are. It notes their state even if it fails, so that the
// failure is logged once for each change.
func (c *certificate) read(state [2]fileState) error {
	c.state = state
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.pair = &pair
	}
	return err
}

// look returns the state of the files. That of a file that cannot be read is zero.
func (c *certificate) look() (state [2]fileState) {
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			state[i] = fileState{info.ModTime(), info.Size()}
		}
	}
	return state
}
