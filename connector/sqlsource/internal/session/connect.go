package session

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"io"
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

// unconnected returns the error of connecting, which has reasons that a statement does not have.
func (s *Database) unconnected(ctx context.Context, err error) error {
	why := s.reason(err)
	if ctx.Err() == nil && why == reasonOther {
		why = connectReason(err)
		if why == reasonOther {
			why = connectStates[s.Flavor.State(err)]
		}
	}
	if why == reasonOther {
		return s.Failure(ctx, err, "")
	}
	return s.Failure(ctx, s.explain(err, why, ""), "")
}

// connectReason returns why a driver could not connect, as the network tells.
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
	return reasonOther
}
