package firebird_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/nakagami/firebirdsql"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// newFlavor returns the flavor of Firebird 3. FIRST and SKIP stand behind SELECT, every SELECT
// needs a table, and a statement binds little: the engine describes all placeholders of a
// statement in 64 KB, each as long as its type may be.
//
// A transaction is a snapshot. The driver has read-only ones too, but in these each
// statement sees another moment.
func newFlavor() sqlengine.Flavor {
	f := flavor{}
	return sqlengine.Flavor{
		Name: "Firebird",

		Quote: f.Quote, Param: f.Param, Table: f.Table, Catalog: f.Catalog, Column: f.Column, Window: f.Window,
		Includes: f.Includes, HasPrefix: f.HasPrefix, Bucket: f.Bucket, State: f.State,

		Tx:          &sql.TxOptions{Isolation: sql.LevelRepeatableRead},
		HasSchema:   func(_ context.Context, _ sqlengine.Queryer, schema string) (bool, error) { return schema == "", nil },
		WindowFirst: true,
		Dual:        "FROM RDB$DATABASE",
		MaxValues:   60_000 / maxOperand,
		// Two scales decline: the engine scales one of the decimals up, and fails where that leaves 64 bits.
		JoinKeys: func(a, b *sqlengine.Column) (left, right string, ok bool) { return a.Key, b.Key, a.Scale == b.Scale },
	}
}

// flavor has the functions of the flavor as methods.
type flavor struct{}

func (flavor) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (flavor) Param(int) string { return "?" }

// Table ignores the schema: Firebird 3 has none.
func (f flavor) Table(_, name string) string { return f.Quote(name) }

func (flavor) Window(limit, offset string, _ bool) string {
	clause := ""
	if limit != "" {
		clause += " FIRST " + limit
	}
	if offset != "" {
		clause += " SKIP " + offset
	}
	return clause
}

func (flavor) Includes(text, param string) string {
	return "POSITION(" + octets(param, maxOperand) + " IN " + text + ") > 0"
}

func (flavor) HasPrefix(text, param string, _ int) string {
	return text + " STARTING WITH " + octets(param, maxOperand)
}

// Bucket subtracts the days since the period began. EXTRACT counts the days of a year
// from 0, and those of a month from 1.
func (flavor) Bucket(_ *sqlengine.Column, key string, g wire.Grain) string {
	day := "CAST(" + key + " AS DATE)"
	back := func(days string) string { return "DATEADD(-(" + days + ") DAY TO " + day + ")" }
	month := back("EXTRACT(DAY FROM " + day + ") - 1")
	switch g {
	case wire.GrainYear:
		return back("EXTRACT(YEARDAY FROM " + day + ")")
	case wire.GrainQuarter:
		return "DATEADD(-MOD(EXTRACT(MONTH FROM " + day + ") - 1, 3) MONTH TO " + month + ")"
	case wire.GrainMonth:
		return month
	}
	return day
}

// states are the SQLSTATEs of failures by the engine's own codes, where the driver's
// SQLSTATE does not say which it is.
var states = map[int]string{
	335544472: "28000", // isc_login
	335544344: "3D000", // isc_io_error: the file cannot be opened
	335544580: "42P01", // isc_dsql_relation_err
	335544395: "42P01", // isc_relnotdef
	335544578: "42P01", // isc_dsql_field_err
	335544396: "42P01", // isc_fldnotdef
	335544352: "42501", // isc_no_priv
	335544794: "57014", // isc_cancelled
	335544741: "57P01", // isc_lost_db_connection
	335544528: "57P01", // isc_shutdown
	335544336: "40001", // isc_deadlock
	335544345: "55P03", // isc_lock_conflict
}

// State returns the state of the first code that says which failure it is, or the
// driver's own if that is of the statement or the data.
func (flavor) State(err error) string {
	var own *firebirdsql.FbError
	if !errors.As(err, &own) {
		return ""
	}
	for _, code := range own.GDSCodes {
		if state := states[code]; state != "" {
			return state
		}
	}
	if len(own.SQLState) == 5 && slices.Contains([]string{"0A", "21", "22", "42", "54"}, own.SQLState[:2]) {
		return own.SQLState
	}
	return ""
}
