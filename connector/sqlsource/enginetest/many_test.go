//go:build unix

package enginetest

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkDiscoverMany shows that discovery is linear in the number of tables: it
// measures that of 1,000, 2,000 and 5,000 tables of six columns, each with a foreign
// key to the one before. The wall clock includes the server; cpu-s is the processor
// time of this process alone. whole is the share of tables that were described in
// full.
//
//	go test -run '^$' -bench DiscoverMany -benchtime 1x .
func BenchmarkDiscoverMany(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) { discoverMany(b, e.create(b)) })
	}
}

func discoverMany(b *testing.B, db *database) {
	source := db.pooled(b, &sqlsource.Options{Profile: time.Hour})
	made := 0
	for _, count := range []int{1000, 2000, 5000} {
		for made < count {
			tx := testkit.Must(db.Begin())(b)
			for range 200 { // a transaction locks all that it has made
				for _, statement := range manyTable(made) {
					testkit.Must(tx.Exec(statement))(b, statement)
				}
				made++
			}
			require.NoError(b, tx.Commit())
		}
		b.Run(fmt.Sprintf("tables=%d", count), func(b *testing.B) {
			var whole int
			began := processorTime(b)
			for b.Loop() {
				d := testkit.Must(source.Discover(b.Context(), &wire.DiscoveryRequest{}))(b)
				require.Len(b, d.Tables, count)
				whole = 0
				for _, table := range d.Tables {
					if len(table.ForeignKeys) == 1 && table.Fields[0].Stats != nil {
						whole++
					}
				}
			}
			b.ReportMetric((processorTime(b)-began).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(whole)/float64(count-1), "whole")
		})
	}
}

// processorTime returns what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
