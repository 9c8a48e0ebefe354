package session

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Failure returns a driver's error as the library takes it. None of the driver's
// text goes out, because it may hold names and values.
func (s *Database) Failure(ctx context.Context, err error, table string) error {
	if err == nil {
		return nil // first, because each row asks, and what follows allocates
	}
	var deliberate *wire.Error
	switch {
	case ReasonOf(err) != reasonOther:
		return err
	case errors.As(err, &deliberate) && deliberate.Code == wire.CodeUnsupported:
		return &trouble{why: reasonData, cause: err, said: deliberate.Message}
	case deliberate != nil:
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var unreadable *sqltext.UnreadableError
	if errors.As(err, &unreadable) {
		return &trouble{why: reasonUnreadable, cause: connector.Unsupported("Table %s has a value in its field %s that cannot be read. "+
			"Correct it, or leave the column out: %w", terms.QuoteName(table), terms.QuoteName(unreadable.Column), err)}
	}
	why := s.reason(err)
	if why == reasonOther && (brokeOff(err) || s.Flavor.State(err) == stateBrokeOff) {
		why = reasonStarting
	}
	return s.explain(err, why, table)
}

// reason returns why a database refused, as the flavor or the network tells.
func (s *Database) reason(err error) reason {
	why := stateReason(s.Flavor.State(err))
	if why == reasonOther && unreachable(err) {
		why = reasonUnreachable
	}
	return why
}

// unreachable reports whether an error says that nobody answers.
func unreachable(err error) bool {
	var dial *net.OpError
	var name *net.DNSError
	return errors.As(err, &dial) && dial.Op == "dial" || errors.As(err, &name) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}

// brokeOff reports whether the connection ended under a statement: a server that
// stops may say so first, or not.
func brokeOff(err error) bool {
	for _, cause := range []error{
		io.EOF, io.ErrUnexpectedEOF, errReset, syscall.EPIPE, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	var network *net.OpError
	return errors.As(err, &network) && (network.Op == "read" || network.Op == "write")
}

// explain returns the error that says why, or err if nobody knows. What is wrong
// with a database of the host is for the log: a tenant could do nothing about it.
func (s *Database) explain(err error, why reason, table string) error {
	if why == reasonShared {
		return &trouble{why: why, cause: fmt.Errorf("the server is behind a pooler that shares its sessions, where statements cannot be "+
			"prepared by name: tell the driver so%s (%w)", s.Flavor.Unnamed, err)}
	}
	answer := s.answer(err, why, table)
	var told *wire.Error
	switch {
	case !errors.As(answer, &told):
		return err
	case s.openTenant == nil && (told.Code == wire.CodeCheckFailed || why == ReasonForbidden):
		return &trouble{why: why, cause: fmt.Errorf("the database of this connector cannot be used: %s (%w)", told.Message, err)}
	}
	return &trouble{why: why, cause: answer, declined: s.Flavor.State(err) == stateDecline}
}

// answer returns what a reason is answered by; nil if nobody knows.
func (s *Database) answer(err error, why reason, table string) error {
	switch why {
	case reasonRejected:
		return connector.CheckFailed("The database refused the user name or the password, or the user may not connect to this database. " +
			"Check them. If they are right, ask whoever runs the database: a server that demands TLS may refuse so, too.")
	case reasonNoDatabase:
		return connector.CheckFailed("There is no database of this name, or it cannot be opened. Check the name of the database.")
	case reasonNotDatabase:
		return connector.CheckFailed("This is not a database of %s: it is something else, or it is encrypted or damaged. "+
			"Check which one is named.", s.engineName())
	case reasonProtocol:
		return connector.CheckFailed("Something answers at this address, but it is not %s. Check the host and the port.", s.engineName())
	case reasonTLSRequired:
		return connector.CheckFailed("The server refuses this connection without encryption: switch TLS on in the connector, " +
			"or ask whoever runs the server whether this user may connect to this database.")
	case reasonTLSRefused:
		return connector.CheckFailed("The server does not encrypt connections, as the connector demands: " +
			"have TLS set up on the server, or switch it off in the connector.")
	case reasonCertificate:
		return connector.CheckFailed("The certificate of the server cannot be verified. It must be valid today, be issued " +
			"by an authority that the connector trusts, and name the host that the connector connects to.")
	case reasonUnreachable:
		return connector.UpstreamTimeout("The database server cannot be reached. It may be down, or not open to this connector: " +
			"ask whoever runs it.")
	case reasonSilent:
		return connector.UpstreamTimeout("Something takes connections at this address, but does not answer as %s does. "+
			"Check the host and the port; if they are right, the server is too busy: try again later.", s.engineName())
	case reasonBusy:
		return connector.UpstreamTimeout("The database has no free connection at the moment. Try again in a moment. " +
			"If it stays so, ask whoever runs the database to raise its limit of connections, such as max_connections.")
	case reasonStarting:
		return connector.UpstreamTimeout("The database server is starting up or shutting down, or has ended the session. Try again in a moment.")
	case reasonLocked:
		return connector.UpstreamTimeout("Another program holds a lock on the database, or had precedence over this request. " +
			"Try again in a moment. If it stays so, have the connector wait longer for locks, such as by busy_timeout or lock_timeout.")
	case ReasonNoTable:
		if table == "" {
			return nil
		}
		s.cache.clear()
		return connector.UnknownEntity("table %s, or a column of it, no longer exists", terms.QuoteName(table))
	case ReasonForbidden:
		if table == "" {
			return nil
		}
		return connector.BadRequest("The user of the database may not read table %s. Grant it to the user, or leave the table out.",
			terms.QuoteName(table))
	case reasonEncoding:
		if table == "" {
			return connector.CheckFailed("A name or a comment in the database has bytes that mean nothing in the database's encoding. " +
				"Ask whoever runs the database to correct it.")
		}
		return connector.Unsupported("Table %s has a text with bytes that mean nothing in the database's encoding. "+
			"Correct it, or leave the column out.", terms.QuoteName(table))
	case reasonData:
		if table == "" {
			return nil
		}
		return connector.Unsupported("The database cannot compute what is asked of table %s: %s. "+
			"Correct the data, or the view or the function that computes with them, or leave the column out.",
			terms.QuoteName(table), uncomputed(s.Flavor.State(err)))
	case ReasonTimeout:
		return connector.UpstreamTimeout("the database ended the statement because it took too long")
	}
	return nil
}

// uncomputed returns why a value could not be computed, in words of our own: those
// of the driver may quote the value.
func uncomputed(state string) string {
	why := map[string]string{
		"21000": "a subquery has several rows where one is allowed",
		"22003": "a number is out of range",
		"22007": "a text is no date or time",
		"22008": "a date or time is out of range",
		"22012": "a division by zero",
		"22032": "a text is not JSON",
		"25006": "it writes, and this connector only reads",
		"22P02": "a text cannot be converted to another type",
		"55000": "it has not been filled yet, or is not ready for it",
		"P0001": "a function refuses",
		"45000": "a function refuses",
	}[state]
	switch {
	case why != "":
	case strings.HasPrefix(state, "54"):
		why = "a value or an expression is too large"
	default:
		why = "a value of it, or the view itself, leads to an error"
	}
	return why + " (SQLSTATE " + state + ")"
}

// trouble is an error of the database whose reason is known.
type trouble struct {
	why   reason
	cause error // a deliberate error, or one for the log
	// declined reports that the engine cannot do this, and the library may.
	declined bool
	// said is what a flavor or a driver has said itself, in words for everybody.
	said string
}

// Declined reports whether an error that failure has returned says that the engine
// cannot do what was asked of it. A request that the library can answer over the rows
// is then declined. In some engines the transaction has ended.
func Declined(err error) bool {
	var known *trouble
	return errors.As(err, &known) && known.declined
}

// Error returns the text of the cause.
func (t *trouble) Error() string { return t.cause.Error() }

// Unwrap returns the cause.
func (t *trouble) Unwrap() error { return t.cause }

// ReasonOf returns the reason of an error that failure has returned.
func ReasonOf(err error) reason {
	var known *trouble
	if errors.As(err, &known) {
		return known.why
	}
	return reasonOther
}

// Said returns what a flavor or a driver has said, in words for everybody, about data that
// cannot be read; empty: it has not.
func Said(err error) string {
	var known *trouble
	if errors.As(err, &known) {
		return known.said
	}
	return ""
}

// forPerson returns the error of a check. Trouble that is likely to pass, and that
// neither the caller nor the connector has made, is answered 408 elsewhere, and here
// as a sentence for the person at the form.
func forPerson(err error) error {
	var answer *wire.Error
	if why := ReasonOf(err); why != reasonOther && why != ReasonTimeout && errors.As(err, &answer) && answer.Code == wire.CodeTimeout {
		return connector.CheckFailed("%s", answer.Message)
	}
	return err
}

// engineName returns what messages call the engine.
func (s *Database) engineName() string { return cmp.Or(s.Flavor.Name, "the expected engine") }
