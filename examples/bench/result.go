package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// goal is a row of the table of goals that whole processes prove.
type goal struct {
	id   string
	work string
	want string
}

var goals = []goal{
	{"S3", "whole `/query` against Node 20 `http` + `JSON.stringify`", ">= 7x wall"},
	{"S4", "whole `/query` against `net/http` + encoding/json", ">= 10x wall"},
	{"S5", "whole `/query` against the same server writing prebuilt bytes", ">= 22 %"},
	{"S6", "first row at the client against Node 20", ">= 8x sooner"},
	{"S8", "peak resident memory of a whole `/query`", "<= 24 MB, within 10 %"},
	{"S12", "top 100 of an unsorted source against Node 20: collect, sort, slice", ">= 5x wall, memory of 100 rows"},
	{"S15", "1,000 streams held beside a fast one: live memory of each, speed of the fast one", "<= 48 KiB, 96 KiB if nobody reads; >= 0.8x"},
	{"S17", "whole `/query` against driver or parser and encoding/json by hand", ">= 2x wall, or <= 1.25x of the bare read's processor time"},
}

func goalIDs() []string {
	ids := make([]string, len(goals))
	for i, g := range goals {
		ids[i] = g.id
	}
	return ids
}

// result is a goal's figure.
type result struct {
	id     string
	part   string // of the goal's work, if it has several
	figure string
	met    bool
	why    string // why the figure could not be measured
}

func (r *result) verdict() string {
	switch {
	case r.why != "":
		return "skipped: " + r.why
	case r.met:
		return "met"
	}
	return "missed"
}

func printTable(w io.Writer, results []result) error {
	var b strings.Builder
	b.WriteString("| Goal | Work | Wanted | Figure | Verdict |\n|---|---|---|---|---|\n")
	for _, r := range results {
		g := goals[slices.IndexFunc(goals, func(g goal) bool { return g.id == r.id })]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", g.id, strings.TrimSuffix(g.work+", "+r.part, ", "), g.want, r.figure, r.verdict())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// median returns the middle of the values, of an even number the upper of two. It
// reorders them.
func median[T float64 | int64 | time.Duration](values []T) T {
	_, mid, _ := quartiles(values)
	return mid
}

// quartiles returns the values below which a quarter, half and three quarters of
// the values are. It reorders them.
func quartiles[T float64 | int64 | time.Duration](values []T) (lower, mid, upper T) {
	slices.Sort(values)
	n := len(values)
	return values[n/4], values[n/2], values[3*n/4]
}

// ratio is how many times longer theirs took than ours: the median over the
// rounds, its range, and its quartiles.
type ratio struct{ mid, low, high, lower, upper float64 }

func ratioOf(ours, theirs []time.Duration) ratio {
	each := make([]float64, len(ours))
	for i := range ours {
		each[i] = float64(theirs[i]) / float64(ours[i])
	}
	lower, mid, upper := quartiles(each)
	return ratio{mid, each[0], each[len(each)-1], lower, upper}
}

// spell returns a duration in about three digits.
func spell(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
