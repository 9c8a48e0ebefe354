package sqlsource

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// failure returns a driver's error as the library takes it. None of the driver's
// text goes out, because it may hold names and values.
func (s *Source) failure(ctx context.Context, err error, table string) error {
	var deliberate *wire.Error
	if err == nil || errors.As(err, &deliberate) || reasonOf(err) != ReasonOther {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why := s.flavor.Reason(err)
	if why == ReasonOther && brokeOff(err) {
		why = ReasonStarting
	}
	return s.explain(err, why, table)
}

// brokeOff reports whether the connection ended under a statement: a server that
// stops may say so first, or not.
func brokeOff(err error) bool {
	for _, cause := range []error{
		io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	var network *net.OpError
	if errors.As(err, &network) && (network.Op == "read" || network.Op == "write") {
		return true
	}
	text := err.Error()
	return text == "invalid connection" || strings.HasSuffix(text, "conn closed") // of go-sql-driver/mysql and pgx
}

// explain returns the error that says why, or err if nobody knows. What is wrong
// with a database of the host is for the log: a tenant could do nothing about it.
func (s *Source) explain(err error, why Reason, table string) error {
	answer := s.answer(err, why, table)
	var told *wire.Error
	switch {
	case !errors.As(answer, &told):
		return err
	case s.openTenant == nil && (told.Code == wire.CodeCheckFailed || why == ReasonForbidden):
		return &trouble{why, fmt.Errorf("the database of this connector cannot be used: %s (%w)", told.Message, err)}
	}
	return &trouble{why, answer}
}

// answer returns what a reason is answered by; nil if nobody knows.
func (s *Source) answer(err error, why Reason, table string) error {
	switch why {
	case ReasonRejected:
		return connector.CheckFailed("The database refused the user name or the password, or the user may not connect to this database. " +
			"Check them. If they are right, ask whoever runs the database: a server that demands TLS may refuse so, too.")
	case ReasonNoDatabase:
		return connector.CheckFailed("There is no database of this name, or it cannot be opened. Check the name of the database.")
	case ReasonNotDatabase:
		return connector.CheckFailed("This is not a database of %s: it is something else, or it is encrypted or damaged. "+
			"Check which one is named.", s.engine())
	case ReasonProtocol:
		return connector.CheckFailed("Something answers at this address, but it is not %s. Check the host and the port.", s.engine())
	case ReasonTLSRequired:
		return connector.CheckFailed("The server refuses this connection without encryption: switch TLS on in the connector, " +
			"or ask whoever runs the server whether this user may connect to this database.")
	case ReasonTLSRefused:
		return connector.CheckFailed("The server does not encrypt connections, as the connector demands: " +
			"have TLS set up on the server, or switch it off in the connector.")
	case ReasonCertificate:
		return connector.CheckFailed("The certificate of the server cannot be verified. It must be valid today, be issued " +
			"by an authority that the connector trusts, and name the host that the connector connects to.")
	case ReasonUnreachable:
		return connector.UpstreamTimeout("The database server cannot be reached. It may be down, or not open to this connector: " +
			"ask whoever runs it.")
	case ReasonSilent:
		return connector.UpstreamTimeout("Something takes connections at this address, but does not answer as %s does. "+
			"Check the host and the port; if they are right, the server is too busy: try again later.", s.engine())
	case ReasonBusy:
		return connector.UpstreamTimeout("The database has no free connection at the moment. Try again in a moment. " +
			"If it stays so, ask whoever runs the database to raise its limit of connections, such as max_connections.")
	case ReasonStarting:
		return connector.UpstreamTimeout("The database server is starting up or shutting down, or has ended the session. Try again in a moment.")
	case ReasonLocked:
		return connector.UpstreamTimeout("Another program holds a lock on the database, or had precedence over this request. " +
			"Try again in a moment. If it stays so, have the connector wait longer for locks, such as by busy_timeout.")
	case ReasonNoTable:
		if table == "" {
			return nil
		}
		s.cache.clear()
		return connector.UnknownEntity("table %s, or a column of it, no longer exists", wire.QuoteName(table))
	case ReasonForbidden:
		return connector.BadRequest("The user of the database may not read table %s. Grant it to the user, or leave the table out.",
			wire.QuoteName(table))
	case ReasonEncoding:
		if table == "" {
			return connector.CheckFailed("A name or a comment in the database has bytes that mean nothing in the database's encoding. " +
				"Ask whoever runs the database to correct it.")
		}
		return connector.Unsupported("Table %s has a text with bytes that mean nothing in the database's encoding. "+
			"Correct it, or leave the column out.", wire.QuoteName(table))
	case ReasonData:
		if table == "" {
			return nil
		}
		return connector.Unsupported("The database cannot compute what is asked of table %s: %s. "+
			"Correct the data, or the view or the function that computes with them, or leave the column out.",
			wire.QuoteName(table), uncomputed(err))
	case ReasonTimeout:
		return connector.UpstreamTimeout("the database ended the statement because it took too long")
	}
	return nil
}

// sqlState returns the SQLSTATE of a driver's error; empty: it has none. In
// go-sql-driver/mysql it stands in the text: "Error 1690 (22003): ...".
func sqlState(err error) string {
	var stated interface{ SQLState() string }
	if errors.As(err, &stated) {
		return stated.SQLState()
	}
	if text, ok := strings.CutPrefix(err.Error(), "Error "); ok {
		if number, rest, ok := strings.Cut(text, " ("); ok && len(number) <= 5 && len(rest) > 5 && rest[5] == ')' {
			return rest[:5]
		}
	}
	return ""
}

// uncomputed returns why a value could not be computed, in words of our own: those
// of the driver may quote the value.
func uncomputed(err error) string {
	state := sqlState(err)
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
	}[state]
	switch text := err.Error(); {
	case why != "":
	case strings.Contains(text, "integer overflow"):
		why = "a number is out of range"
	case strings.Contains(text, "malformed JSON"):
		why = "a text is not JSON"
	case strings.Contains(text, "too big"), strings.HasPrefix(state, "54"):
		why = "a value or an expression is too large"
	case state == "P0001", state == "45000":
		why = "a function refuses"
	default:
		why = "a value of it, or the view itself, leads to an error"
	}
	if state != "" {
		why += " (SQLSTATE " + state + ")"
	}
	return why
}

// trouble is an error of the database whose reason is known.
type trouble struct {
	why   Reason
	cause error // a deliberate error, or one for the log
}

// Error returns the text of the cause.
func (t *trouble) Error() string { return t.cause.Error() }

// Unwrap returns the cause.
func (t *trouble) Unwrap() error { return t.cause }

// reasonOf returns the reason of an error that failure has returned.
func reasonOf(err error) Reason {
	var known *trouble
	if errors.As(err, &known) {
		return known.why
	}
	return ReasonOther
}

// lasting reports whether a table cannot be read for a reason that stays and is its
// own: whoever asks again is told the same.
func (r Reason) lasting() bool {
	return r == ReasonNoTable || r == ReasonForbidden || r == ReasonEncoding || r == ReasonData
}

// forPerson returns the error of a check. Trouble that is likely to pass, and that
// neither the caller nor the connector has made, is answered 408 elsewhere, and here
// as a sentence for the person at the form.
func forPerson(err error) error {
	var answer *wire.Error
	if why := reasonOf(err); why != ReasonOther && why != ReasonTimeout && errors.As(err, &answer) && answer.Code == wire.CodeTimeout {
		return connector.CheckFailed("%s", answer.Message)
	}
	return err
}

// engine returns what messages call the engine.
func (s *Source) engine() string {
	switch s.flavor.(type) {
	case postgres:
		return "PostgreSQL"
	case mysql:
		return "MySQL or MariaDB"
	case sqlite:
		return "SQLite"
	}
	return "the expected engine"
}
