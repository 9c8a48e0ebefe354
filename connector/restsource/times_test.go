package restsource_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTimes: dates as APIs write them, several spellings in one column.
func TestTimes(t *testing.T) {
	berlin := testkit.Must(time.LoadLocation("Europe/Berlin"))(t)
	column := func(zone *time.Location, layouts ...string) restsource.Column {
		return restsource.Column{Type: wire.TypeDatetime, Zone: zone, Layouts: layouts}
	}
	unix := func(unit time.Duration) restsource.Column {
		return restsource.Column{Type: wire.TypeDatetime, Unix: unit}
	}
	both := restsource.Column{Type: wire.TypeDatetime, Unix: time.Second, Layouts: []string{"20060102"}, Zone: time.UTC}
	day := restsource.Column{Type: wire.TypeDate, Layouts: []string{"02.01.2006", "January 2, 2006"}}
	twice := column(time.UTC, "01/02/2006", "02/01/2006")
	for _, c := range []struct {
		column restsource.Column
		value  string
		want   string // "": the read fails
	}{
		// Business Central answers with and without a fraction: airbytehq/airbyte#28782.
		{column(time.UTC, time.DateTime), `"2024-11-01T08:48:50.120Z"`, "2024-11-01T08:48:50.120Z"},
		{column(time.UTC, time.DateTime), `"2024-11-01 08:48:50"`, "2024-11-01T08:48:50Z"},
		{column(time.UTC, time.DateTime), `"2024-11-01 08:48:50.5"`, "2024-11-01T08:48:50.500Z"},
		{column(berlin, time.DateTime), `"2024-11-01 08:48:50"`, "2024-11-01T07:48:50Z"},
		{column(berlin, "2006-01-02T15:04:05"), `"2024-07-01T08:00:00"`, "2024-07-01T06:00:00Z"},
		{column(nil, time.RFC1123Z), `"Fri, 01 Nov 2024 08:48:50 +0100"`, "2024-11-01T07:48:50Z"},
		{column(time.UTC, "Mon, 02 Jan 2006 15:04:05 GMT"), `"Fri, 01 Nov 2024 08:48:50 GMT"`, "2024-11-01T08:48:50Z"},
		{column(time.UTC, time.DateTime), `""`, "null"},
		{column(time.UTC, time.DateTime), `null`, "null"},
		{column(time.UTC, time.DateTime), `1730450930`, ""},
		{column(time.UTC, time.DateTime), `"2024-11-01 08:48:50.1234567891"`, ""}, // package time would cut it
		{column(berlin, time.DateTime), `"2024-10-27 02:30:00"`, ""},              // is there twice
		{column(berlin, time.DateTime), `"2024-10-27 03:00:00"`, "2024-10-27T02:00:00Z"},
		{column(berlin, time.DateTime), `"2024-03-31 02:30:00"`, ""}, // is not there
		{twice, `"13/02/2024"`, "2024-02-13T00:00:00Z"},
		{twice, `"03/03/2024"`, "2024-03-03T00:00:00Z"},
		{twice, `"03/04/2024"`, ""}, // March or April
		{day, `"1.11.2024"`, ""},
		{day, `"01.11.2024"`, "2024-11-01"},
		{day, `"November 1, 2024"`, "2024-11-01"},
		{day, `"2024-11-01T23:00:00-05:00"`, "2024-11-01"},
		// Rutter takes and gives milliseconds: airbytehq/airbyte#29398.
		{unix(time.Millisecond), `1730450930120`, "2024-11-01T08:48:50.120Z"},
		{unix(time.Second), `"1730450930"`, "2024-11-01T08:48:50Z"},
		{unix(time.Second), `1730450930.000200`, "2024-11-01T08:48:50.000200Z"}, // as Slack writes it
		{unix(time.Second), `1.73045093e9`, "2024-11-01T08:48:50Z"},
		{unix(time.Second), `-1.5`, "1969-12-31T23:59:58.500Z"},
		{unix(time.Microsecond), `1730450930000001`, "2024-11-01T08:48:50.000001Z"},
		{unix(time.Nanosecond), `"1730450930000000001"`, "2024-11-01T08:48:50.000000001Z"},
		{unix(time.Nanosecond), `1730450930000000001.5`, ""},
		{unix(time.Second), `1730450930120`, ""}, // the year 56805: the unit is another
		{unix(time.Second), `"this afternoon"`, ""},
		{unix(time.Second), `"2024-11-01"`, "2024-11-01T00:00:00Z"},
		{unix(time.Second), `true`, ""},
		{both, `1730450930`, "2024-11-01T08:48:50Z"},
		{both, `"20241101"`, ""}, // a day, or one in 1970
	} {
		t.Run(c.value, func(t *testing.T) {
			got, said, err := cellOf(t, c.column, c.value)
			if c.want == "" {
				require.Error(t, err)
				assert.NotContains(t, said, strings.Trim(c.value, `"`), "no error quotes a value")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got.String())
		})
	}
}

// TestRound: a filter on updated_since is pushed, and loses no row, however the API
// rounds the times of its rows before it compares them.
func TestRound(t *testing.T) {
	base := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var rows []time.Time
	for _, of := range []time.Duration{-25 * time.Hour, -24 * time.Hour, -time.Second, -time.Millisecond, 0, time.Millisecond,
		499 * time.Millisecond,
		500 * time.Millisecond, 999 * time.Millisecond, time.Second, time.Minute, 12 * time.Hour, 24*time.Hour - 1e6,
		24 * time.Hour, 49 * time.Hour} {
		rows = append(rows, base.Add(of))
	}
	ops := map[wire.Op]func(a, b time.Time) bool{
		wire.OpGt: time.Time.After, wire.OpGte: func(a, b time.Time) bool { return !a.Before(b) },
		wire.OpLt: time.Time.Before, wire.OpLte: func(a, b time.Time) bool { return !a.After(b) },
	}
	roundings := map[string]func(at time.Time, d time.Duration) time.Time{
		"down": time.Time.Truncate, "up": func(at time.Time, d time.Duration) time.Time { return at.Add(d - 1).Truncate(d) },
		"half": time.Time.Round,
	}
	sent := 0
	for _, unit := range []time.Duration{time.Second, 24 * time.Hour} {
		for declared, holds := range ops {
			for rounding, round := range roundings {
				param := restsource.Param{Column: "at", Op: declared, Name: "bound", Round: unit, Spell: restsource.SpellUnix(time.Second)}
				if unit > time.Second {
					param.Spell = restsource.SpellTime(time.DateOnly)
				}
				tables := []restsource.Table{{
					Name: "rows", Pages: onePage, Path: "/rows", Rows: "rows", Columns: []restsource.Column{{Name: "at", Type: wire.TypeDatetime}},
					Filters: []restsource.Param{param},
				}}
				tenant := serve(t, shopAPI, tables, testkit.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					bound, err := time.Parse(time.DateOnly, r.URL.Query().Get("bound"))
					if n, failed := strconv.ParseInt(r.URL.Query().Get("bound"), 10, 64); failed == nil {
						bound, err = time.Unix(n, 0), nil
					}
					require.NoError(t, err)
					sent++
					var kept []string
					for _, at := range rows {
						if holds(round(at, unit), bound) {
							kept = append(kept, fmt.Sprintf(`{"at": %q}`, at.Format(time.RFC3339Nano)))
						}
					}
					_, _ = fmt.Fprintf(w, `{"rows": [%s]}`, strings.Join(kept, ","))
				})))
				for op, wanted := range ops {
					if op[:2] != declared[:2] || op == wire.OpGte && declared == wire.OpGt || op == wire.OpLte && declared == wire.OpLt {
						continue // not pushed: tested elsewhere
					}
					for _, value := range rows {
						answer, err := tenant.Query(wire.QueryRequest{Table: "rows", Fields: []string{"at"}, Where: wire.Where{
							And: []wire.Filter{{Field: "at", Op: op, Value: wire.Datetime(value)}}}})
						require.NoError(t, err)
						want := 0
						for _, at := range rows {
							if wanted(at, value) {
								want++
							}
						}
						assert.Len(t, answer.Column("at"), want, "%s %s %s, declared %s, rounded %s to %s", "at", op, value, declared, rounding, unit)
					}
				}
			}
		}
	}
	assert.Equal(t, 2*3*6*len(rows), sent)
}
