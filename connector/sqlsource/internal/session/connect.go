package session

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"time"
)

// connectShare is the part of a request's time that connecting to a tenant's
// database may take, in percent. The rest is left to say that it took too long.
const connectShare = 80

// limitConnect returns the context in which a tenant's database is connected to.
func limitConnect(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)*connectShare/100)
}

// retriedConnects is how often a connection is tried again that failed by chance.
const retriedConnects = 2

// mayBeChance reports whether connecting may succeed if it is tried again.
// go-sql-driver/mysql takes the challenge of MariaDB's ed25519 for malformed if its
// last byte is zero, as that of one in 256 is. No password was sent then.
func mayBeChance(err error) bool { return strings.Contains(err.Error(), "malformed packet") }

// unconnected returns the error of connecting. What a flavor does not know may
// be known by what drivers do when they connect.
func (s *Database) unconnected(ctx context.Context, err error) error {
	why := s.reason(err)
	if ctx.Err() == nil && why == reasonOther {
		why = connectReason(err)
	}
	if why == reasonOther {
		return s.Failure(ctx, err, "")
	}
	return s.Failure(ctx, s.explain(err, why, ""), "")
}

// connectReason returns why a driver could not connect, for any engine.
func connectReason(err error) reason {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &certificate):
		return reasonCertificate
	case errors.As(err, &record): // the answer to a TLS handshake was something else
		return reasonProtocol
	case errors.Is(err, context.DeadlineExceeded):
		return reasonSilent
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errReset), errors.Is(err, driver.ErrBadConn):
		return reasonProtocol
	}
	text := err.Error()
	for _, known := range []struct {
		text string
		why  reason
	}{
		// pgx
		{"server refused TLS connection", reasonTLSRefused},
		{"received unexpected message", reasonProtocol},
		{"unknown message type", reasonProtocol},
		{"invalid body length", reasonProtocol},
		// lib/pq
		{"SSL is not enabled on the server", reasonTLSRefused},
		{"unexpected message", reasonProtocol},
		// go-sql-driver/mysql
		{"server does not support TLS", reasonTLSRefused},
		{"invalid connection", reasonProtocol},
		{"malformed packet", reasonProtocol},
		{"commands out of sync", reasonProtocol},
		{"unsupported protocol version", reasonProtocol},
	} {
		if strings.Contains(text, known.text) {
			return known.why
		}
	}
	return reasonOther
}
