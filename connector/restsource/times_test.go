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
