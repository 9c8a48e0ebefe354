package session

// reason is why a database refused.
type reason uint8

// The reasons. A failure that nobody knows is reasonOther, and becomes an internal
// error.
const (
	reasonOther       reason = iota
	reasonRejected           // the user's name or password is wrong, or the user may not connect
	reasonNoDatabase         // there is no database of that name
	reasonUnreachable        // nobody answers at the server's address
	ReasonNoTable            // a table or column no longer exists
	ReasonForbidden          // the user may not read the table
	ReasonTimeout            // the statement was ended by its own timeout
	reasonBusy               // no connection is free, of the server or of the user
	reasonStarting           // the server is starting up or shutting down, or has ended the session
	reasonLocked             // another program holds a lock on the database, or had precedence
	reasonNotDatabase        // the file is something else, encrypted or damaged
	reasonProtocol           // who answers at the address speaks another protocol
	reasonSilent             // who answers at the address says nothing
	reasonTLSRequired        // the server refuses connections without TLS
	reasonTLSRefused         // the server has no TLS
	reasonCertificate        // the server's certificate cannot be verified
	reasonEncoding           // a text is not in the database's encoding, so it cannot be read
	reasonShared             // statements are prepared by name on a session that others use, too
	reasonData               // the table cannot be computed, however often it is tried
	reasonUnreadable         // a value is in a form that its column's type does not have
)

// stateDecline is the SQLSTATE of what the engine cannot do and the library may.
const stateDecline = "0A000"

// stateBrokeOff is the SQLSTATE of a connection that ended. Who ends it before it is made is no
// server of the engine.
const stateBrokeOff = "08S01"

// connectStates are the reasons by the SQLSTATEs that say something of connecting alone.
var connectStates = map[string]reason{
	"08P01": reasonProtocol, stateBrokeOff: reasonProtocol,
	"08T01": reasonTLSRefused,
}

// stateReasons are the reasons by their SQLSTATEs, and by the classes of SQLSTATEs that
// are of the statement and the data alone: features, cardinality, data, constraints,
// routines, syntax, raised by a function, limits of the program.
var stateReasons = map[string]reason{
	"28000": reasonRejected, "28P01": reasonRejected,
	"3D000": reasonNoDatabase, "57P04": reasonNoDatabase,
	"XX001": reasonNotDatabase,
	"08004": reasonTLSRequired,
	"42P01": ReasonNoTable, "42703": ReasonNoTable, "3F000": ReasonNoTable, "42S02": ReasonNoTable, "42S22": ReasonNoTable,
	"42501": ReasonForbidden,
	"57014": ReasonTimeout, "25P03": ReasonTimeout, "25P04": ReasonTimeout,
	"53300": reasonBusy,
	"57P01": reasonStarting, "57P02": reasonStarting, "57P03": reasonStarting, "57P05": reasonStarting,
	"08000": reasonStarting, "08001": reasonStarting, "08003": reasonStarting, "08006": reasonStarting, "08007": reasonStarting,
	"40001": reasonLocked, "40P01": reasonLocked, "55P03": reasonLocked, "72000": reasonLocked,
	"42P05": reasonShared, "26000": reasonShared,
	"22P05": reasonEncoding, "22021": reasonEncoding,
	"25006": reasonData, "55000": reasonData, // a view that writes, a materialized view that was never filled
	"0A": reasonData, "21": reasonData, "22": reasonData, "23": reasonData, "2F": reasonData, "38": reasonData, "39": reasonData,
	"42": reasonData, "44": reasonData, "45": reasonData, "P0": reasonData, "54": reasonData,
}

// stateReason returns the reason that an SQLSTATE gives.
func stateReason(state string) reason {
	if why, known := stateReasons[state]; known || len(state) < 2 {
		return why
	}
	return stateReasons[state[:2]]
}

// Lasting reports whether a table cannot be read for a reason that is its own and stays:
// asking again gives the same answer.
func (r reason) Lasting() bool {
	return r == ReasonNoTable || r == ReasonForbidden || r == reasonEncoding || r == reasonData || r == reasonUnreadable
}
