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
				tenant := serve(t, shopAPI, tables, handlerTransport{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
				})})
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

// TestRoundSpelled: what is sent for a bound.
func TestRoundSpelled(t *testing.T) {
	for _, c := range []struct {
		param restsource.Param
		typ   wire.Type
		op    wire.Op
		value string
		want  string
	}{
		{restsource.Param{Op: wire.OpGte, Round: time.Second}, wire.TypeDatetime, wire.OpGte, "2026-03-01T10:00:00.7Z", "2026-03-01T10:00:00Z"},
		{restsource.Param{Op: wire.OpGte, Round: time.Second}, wire.TypeDatetime, wire.OpGt, "2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z"},
		{restsource.Param{Op: wire.OpGt, Round: time.Second}, wire.TypeDatetime, wire.OpGt, "2026-03-01T10:00:00Z", "2026-03-01T09:59:59Z"},
		{restsource.Param{Op: wire.OpLte, Round: time.Minute}, wire.TypeDatetime, wire.OpLt, "2026-03-01T10:00:30Z", "2026-03-01T10:01:00Z"},
		{restsource.Param{Op: wire.OpLte, Round: time.Minute}, wire.TypeDatetime, wire.OpLte, "2026-03-01T10:00:00+02:00",
			"2026-03-01T08:00:00Z"},
		{restsource.Param{Op: wire.OpGte, Round: 24 * time.Hour}, wire.TypeDate, wire.OpGte, "2026-03-01", "2026-03-01"},
		{restsource.Param{Op: wire.OpGt, Round: 24 * time.Hour}, wire.TypeDate, wire.OpGt, "2026-03-01", "2026-02-28"},
		{restsource.Param{Op: wire.OpGt, Round: 24 * time.Hour}, wire.TypeDate, wire.OpGt, "0001-01-01", ""},
		{restsource.Param{Op: wire.OpGte, Spell: restsource.SpellUnix(time.Millisecond)}, wire.TypeDatetime, wire.OpGte,
			"2026-03-01T10:00:00.7Z", "1772359200700"},
		{restsource.Param{Op: wire.OpGte, Round: 24 * time.Hour, Spell: restsource.SpellTime("02.01.2006")}, wire.TypeDatetime,
			wire.OpGte, "2026-03-01T23:30:00Z", "01.03.2026"},
	} {
		c.param.Column, c.param.Name = "at", "bound"
		asked := ""
		_, err := serve(t, shopAPI, []restsource.Table{{
			Name: "rows", Pages: onePage, Path: "/rows", Rows: "rows", Columns: []restsource.Column{{Name: "at", Type: c.typ}}, Filters: []restsource.Param{c.param},
		}}, transportFunc(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.Query().Get("bound")
			return reply(200, `{"rows": []}`), nil
		})).Query(wire.QueryRequest{Table: "rows", Fields: []string{"at"}, Where: wire.Where{
			And: []wire.Filter{{Field: "at", Op: c.op, Value: wire.Text(c.value)}}}})
		require.NoError(t, err)
		assert.Equal(t, c.want, asked, "%+v", c)
	}
	for _, param := range []restsource.Param{
		{Op: wire.OpEq, Round: time.Second}, {Op: wire.OpGte, Round: -time.Second}, {Op: wire.OpGte, Round: time.Second, Exact: true},
	} {
		param.Column, param.Name = "at", "bound"
		_, err := restsource.New(shopAPI, []restsource.Table{{Name: "rows", Pages: onePage, Path: "/rows", Rows: "rows", Total: "n",
			Columns: []restsource.Column{{Name: "at", Type: wire.TypeDatetime}}, Filters: []restsource.Param{param}}}, nil)
		assert.ErrorContains(t, err, "Round is for gt, gte, lt and lte")
	}
}
