package exam

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMisreadZones requires that an answer which operands in a local zone give is explained by the zone.
func TestMisreadZones(t *testing.T) {
	var rows [][]wire.Value
	instant := func(at time.Time) wire.Value { return wire.Text(at.Format(time.RFC3339)) } // as it crosses the wire
	noon := time.Date(2024, 3, 31, 12, 0, 0, 0, time.UTC)
	for quarter := range 4 * 48 {
		rows = append(rows, []wire.Value{instant(noon.Add(time.Duration(quarter-96) * 15 * time.Minute))})
	}
	q := &Question{Subject: subject("visits", []wire.Column{{Name: "at", Type: wire.TypeDatetime}}, rows), Path: wire.PathQuery}
	q.And = []wire.Filter{{Field: "at", Op: wire.OpGte, Value: instant(noon)}}
	for zone, offset := range map[string]time.Duration{
		"+02:00": 2 * time.Hour, "-01:00": -time.Hour, "+05:45": 345 * time.Minute, "-09:30": -570 * time.Minute, "+08:00": 8 * time.Hour,
	} {
		from := noon.Add(-offset) // what noon in the zone is in UTC
		as := q.misreading(func(rows [][]wire.Value) bool {
			return len(rows) > 0 && rows[0][0].String() == instant(from).String()
		})
		require.Equal(t, "operands were read in "+zone, as)
	}
}
