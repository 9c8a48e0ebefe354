package clocks

import (
	"fmt"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const maxSilence = wire.HeartbeatInterval + tolerance

func silence(lasted time.Duration, until string) *check.Finding {
	if lasted <= maxSilence {
		return nil
	}
	return check.Differs(fmt.Sprintf("a ping after %s without a line", wire.HeartbeatInterval),
		fmt.Sprintf("nothing for %s", lasted.Round(10*time.Millisecond)), "the stream was silent until %s", until)
}

// silences returns what is wrong with the first silence of a stream that is too long.
func silences(st *session.Stream) *check.Finding {
	last := time.Duration(0)
	for _, line := range st.Lines {
		until := fmt.Sprintf("its %s line, %s after the request", line.Kind, line.At.Round(10*time.Millisecond))
		if f := silence(line.At-last, until); f != nil {
			return f
		}
		last = line.At
	}
	if !st.Ended {
		return silence(st.Elapsed-last, "it was given up")
	}
	return nil
}

// pinged judges the stream of the table slow, and reports whether it shows heartbeats.
func pinged(st *session.Stream) (shown bool, f *check.Finding) {
	if f := silences(st); f != nil {
		return true, f
	}
	// A host may have a limit of its own for how long a request takes.
	limited := st.TimedOut
	if !limited {
		if f := st.Problem(); f != nil {
			return false, f
		}
	}
	if n := len(st.Lines); n == 0 || st.Lines[n-1].At < wire.HeartbeatInterval {
		return false, nil // it did not stall, or was ended before a ping was due
	}
	if limited {
		return true, nil
	}
	pings := 0
	for _, line := range st.Lines {
		if line.Kind == "ping" {
			pings++
		}
	}
	table := corpus.Slow()
	known := oracle.Tables{table.Name: {Name: table.Name, Columns: table.Columns(), Rows: table.Rows}}
	if d := oracle.Verify(known, declared.AllRows(&table.Table), st.Table.Rows); d != nil {
		return true, check.Differs(d.Expected, d.Received,
			"after %d pings the rows of table %s are not complete: %s", pings, table.Name, d.Detail)
	}
	return true, nil
}

// judgeSilence asks the stream of the run with the longest silence once more, and judges it if it is silent again.
func judgeSilence(run *session.Run) *check.Finding {
	if f := run.ReadSomeTables(); f != nil {
		return f
	}
	call, lasted := run.Longest(wire.PathQuery, true)
	if lasted < wire.HeartbeatInterval-time.Second {
		return check.Skip(check.NoData,
			"no stream of this run had to wait for its next line as long as %s; the longest silence was %s",
			wire.HeartbeatInterval, lasted.Round(time.Millisecond))
	}
	run.Cases++
	return everyTime(func() *check.Finding {
		if lasted == 0 {
			lasted = run.Exchange(call).Silent
		}
		f := silence(lasted, "its next line")
		lasted = 0
		return f
	})
}
