package main

import (
	"runtime"
	"testing"
	"time"
)

// side is one of those that do the same work in a benchmark.
type side struct {
	name string
	run  func()
}

// leastTurns is how many turns are taken, however long they last: fewer have no
// useful median.
const leastTurns = 9

// duel runs ours and its rivals by turns, each once an iteration, and reports
// medians: ns/row of ours, and for each rival how many times as long it took, the
// wall clock's with its quartiles (-lower, -upper). It
// computes ratios iteration by iteration, so that a machine that slows down slows
// both. One run of a side processes this number of rows.
//
// x-rival is of the wall clock, cpu-x-rival of the processor time of the whole
// process, its garbage collector included. On an idle machine they show speed and
// cost; on a busy one only the second means anything.
func duel(b *testing.B, rows int, ours side, rivals ...side) {
	b.Helper()
	all := append([]side{ours}, rivals...)
	wall, cpu := make([][]time.Duration, len(all)), make([][]time.Duration, len(all))
	for _, s := range all {
		s.run() // buffers grow, caches warm
	}
	for turn, more := 0, true; more || turn < leastTurns; turn++ {
		more = more && b.Loop()
		for i := range all {
			k := (turn + i) % len(all)
			runtime.GC() // so that none collects the garbage of another
			began, used := time.Now(), processorTime()
			all[k].run()
			cpu[k] = append(cpu[k], processorTime()-used)
			wall[k] = append(wall[k], time.Since(began))
		}
	}
	for i, s := range rivals {
		r := ratioOf(wall[0], wall[i+1])
		b.ReportMetric(r.mid, "x-"+s.name)
		b.ReportMetric(r.lower, "x-"+s.name+"-lower")
		b.ReportMetric(r.upper, "x-"+s.name+"-upper")
		b.ReportMetric(ratioOf(cpu[0], cpu[i+1]).mid, "cpu-x-"+s.name)
	}
	b.ReportMetric(float64(median(wall[0]))/float64(rows), "ns/row")
	b.ReportMetric(float64(median(cpu[0]))/float64(rows), "cpu-ns/row")
	b.ReportMetric(testing.AllocsPerRun(1, ours.run)/float64(rows), "allocs/row")
	b.ReportMetric(0, "ns/op") // would be of all sides together, which means nothing
}
