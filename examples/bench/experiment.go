package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// experiment is one run of the command.
type experiment struct {
	rows, rounds int
	wanted       []string
	client       *client
	progress     io.Writer
}

const (
	verifiedRows   = 20_000 // read strictly from each server before it is measured
	firstRowTrials = 200    // requests for S6 to each server, however many rounds
	firstRowLimit  = 10_000 // rows of each
	topRows        = 100    // S12
	mostMemory     = 24e6   // S8
	memorySpread   = 1.10   // S8
)

func (e *experiment) wants(ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(e.wanted, id) })
}

// all measures the wanted goals, in their order.
func (e *experiment) all(ctx context.Context) ([]result, error) {
	var results []result
	add := func(ids []string, take func(context.Context) ([]result, error)) error {
		if !e.wants(ids...) {
			return nil
		}
		took, err := take(ctx)
		for _, r := range took {
			if e.wants(r.id) {
				results = append(results, r)
			}
		}
		return err
	}
	if err := add([]string{"S3", "S4", "S5", "S6"}, e.streams); err != nil {
		return nil, err
	}
	if err := add([]string{"S8"}, e.memory); err != nil {
		return nil, err
	}
	if err := add([]string{"S12"}, e.top); err != nil {
		return nil, err
	}
	if err := add([]string{"S15"}, e.held); err != nil {
		return nil, err
	}
	if err := add([]string{"S17"}, e.sources); err != nil {
		return nil, err
	}
	return results, nil
}

// fleet starts servers and verifies their rows. It leaves Node out where it is
// not installed.
func (e *experiment) fleet(ctx context.Context, kinds ...string) (fleet []*server, stop func(), err error) {
	stop = func() {
		e.client.close()
		for _, s := range fleet {
			s.stop()
		}
	}
	for _, kind := range kinds {
		s, err := start(ctx, kind, e.rows)
		if errors.Is(err, errNoNode) {
			continue
		}
		if err == nil {
			fleet = append(fleet, s)
			err = e.client.verify(ctx, s, min(e.rows, verifiedRows))
		}
		if err != nil {
			stop()
			return nil, nil, err
		}
	}
	return fleet, stop, nil
}

// rotated returns the fleet in the order of a round, so that no server always
// follows the same one.
func rotated(fleet []*server, round int) []*server {
	k := round % len(fleet)
	return append(slices.Clone(fleet[k:]), fleet[:k]...)
}

// streams measures S3 to S6.
func (e *experiment) streams(ctx context.Context) ([]result, error) {
	kinds := []string{serverSDK}
	if e.wants("S5") {
		kinds = append(kinds, serverPrebuilt)
	}
	if e.wants("S3", "S6") {
		kinds = append(kinds, serverNode)
	}
	if e.wants("S4") {
		kinds = append(kinds, serverMaps)
	}
	fleet, stop, err := e.fleet(ctx, kinds...)
	if err != nil {
		return nil, err
	}
	defer stop()
	wall, cpu, first := timings{}, timings{}, timings{}
	for round := range e.rounds {
		fmt.Fprintf(e.progress, "streams: round %d of %d\n", round+1, e.rounds)
		for _, s := range rotated(fleet, round) {
			if !e.wants("S3", "S4", "S5") {
				continue
			}
			a, err := e.client.discard(ctx, s, query())
			if err != nil {
				return nil, err
			}
			wall.add(s, a.wall)
			cpu.add(s, a.cpu)
		}
	}
	if e.wants("S6") {
		if err := e.firstRows(ctx, fleet, first); err != nil {
			return nil, err
		}
	}
	return []result{
		compared("S3", wall, cpu, serverNode, 7),
		compared("S4", wall, cpu, serverMaps, 10),
		share(wall, cpu),
		sooner(first),
	}, nil
}

// firstRows takes the times of S6, the servers by turns.
func (e *experiment) firstRows(ctx context.Context, fleet []*server, first timings) error {
	fmt.Fprintf(e.progress, "first rows: %d of each\n", firstRowTrials)
	fleet = slices.DeleteFunc(slices.Clone(fleet), func(s *server) bool { return s.kind != serverSDK && s.kind != serverNode })
	q := query()
	q.Limit = firstRowLimit
	for trial := range firstRowTrials {
		for _, s := range rotated(fleet, trial) {
			a, err := e.client.discard(ctx, s, q)
			if err != nil {
				return err
			}
			first.add(s, a.first)
		}
	}
	return nil
}

// sooner returns the figure of S6. Single first rows vary much, so it has quartiles.
func sooner(first timings) result {
	if len(first[serverNode]) == 0 {
		return result{id: "S6", why: errNoNode.Error()}
	}
	r := ratioOf(first[serverSDK], first[serverNode])
	side := func(kind string) string {
		low, mid, high := quartiles(slices.Clone(first[kind]))
		return fmt.Sprintf("%s (%s to %s)", spell(mid), spell(low), spell(high))
	}
	return result{id: "S6", met: r.mid >= 8, figure: fmt.Sprintf("%.1fx (%.1f to %.1f), quartiles of %d: %s against %s",
		r.mid, r.lower, r.upper, len(first[serverSDK]), side(serverSDK), side(serverNode))}
}

// timings are the times of the servers, by their kind.
type timings map[string][]time.Duration

func (t timings) add(s *server, d time.Duration) { t[s.kind] = append(t[s.kind], d) }

// median returns the median of a kind of server, and keeps the order of rounds.
func (t timings) median(kind string) time.Duration { return median(slices.Clone(t[kind])) }

// compared returns the figure of a goal that is a ratio to a rival. The wall
// clock decides. The processor time of the servers is printed beside it, because
// it hardly depends on what else the machine is doing.
func compared(id string, wall, cpu timings, rival string, want float64) result {
	if len(wall[rival]) == 0 {
		return result{id: id, why: errNoNode.Error()}
	}
	r := ratioOf(wall[serverSDK], wall[rival])
	return result{id: id, met: r.mid >= want, figure: fmt.Sprintf("%.1fx (%.1f to %.1f), %s against %s%s",
		r.mid, r.low, r.high, spell(wall.median(serverSDK)), spell(wall.median(rival)), processor(cpu, rival))}
}

// share returns the figure of S5: our part of the loopback's speed.
func share(wall, cpu timings) result {
	if len(wall[serverPrebuilt]) == 0 {
		return result{id: "S5"}
	}
	r := ratioOf(wall[serverSDK], wall[serverPrebuilt])
	return result{id: "S5", met: r.mid >= 0.22, figure: fmt.Sprintf("%.0f %% (%.0f to %.0f), %s against %s%s",
		100*r.mid, 100*r.low, 100*r.high, spell(wall.median(serverSDK)), spell(wall.median(serverPrebuilt)), processor(cpu, serverPrebuilt))}
}

// processor returns the servers' processor time in words, or nothing if it is
// unknown or too short to compare.
func processor(cpu timings, rival string) string {
	if len(cpu[rival]) == 0 {
		return ""
	}
	ours, theirs := cpu.median(serverSDK), cpu.median(rival)
	if ours < 5*tick || theirs == 0 {
		return ""
	}
	return fmt.Sprintf("; processor time %s against %s", spell(ours), spell(theirs))
}

// memory measures S8: the peak of a server that has answered one request, at
// three sizes of the table.
func (e *experiment) memory(ctx context.Context) ([]result, error) {
	sizes := []int{max(1, e.rows/4), e.rows, 4 * e.rows}
	peaks := make([][]int64, len(sizes))
	for round := range e.rounds {
		fmt.Fprintf(e.progress, "memory: round %d of %d\n", round+1, e.rounds)
		for i, rows := range sizes {
			peak, err := e.peakOf(ctx, serverSDK, rows, query())
			if errors.Is(err, errNoProc) {
				return []result{{id: "S8", why: err.Error()}}, nil
			}
			if err != nil {
				return nil, err
			}
			peaks[i] = append(peaks[i], peak)
		}
	}
	r := result{id: "S8"}
	least, most := int64(1<<62), int64(0)
	var figures []string
	for i, rows := range sizes {
		mid := median(peaks[i])
		least, most = min(least, mid), max(most, mid)
		figures = append(figures, fmt.Sprintf("%s at %d rows", megabytes(mid), rows))
	}
	spread := float64(most) / float64(least)
	r.met = most <= mostMemory && spread <= memorySpread
	r.figure = fmt.Sprintf("%s; %.0f %% apart", strings.Join(figures, ", "), 100*(spread-1))
	return []result{r}, nil
}

// peakOf returns the peak of a fresh server's memory after one request.
func (e *experiment) peakOf(ctx context.Context, kind string, rows int, q *wire.QueryRequest) (int64, error) {
	s, err := start(ctx, kind, rows)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	defer e.client.close()
	if _, err := e.client.discard(ctx, s, q); err != nil {
		return 0, err
	}
	return s.peakMemory()
}

// top measures S12.
func (e *experiment) top(ctx context.Context) ([]result, error) {
	fleet, stop, err := e.fleet(ctx, serverSDK, serverNode)
	if err != nil {
		return nil, err
	}
	defer stop()
	q := query()
	q.Sort = []wire.SortKey{{Field: "price", Dir: wire.Desc}}
	q.Limit = topRows
	var want []int64
	for _, s := range fleet {
		ids, err := e.client.ids(ctx, s, q)
		if err != nil {
			return nil, err
		}
		if want == nil {
			want = ids
		}
		if len(ids) != min(topRows, e.rows) || !slices.Equal(ids, want) {
			return nil, fmt.Errorf("server %s: the first %d of the sort: %w", s.kind, topRows, errNotTheRows)
		}
	}
	wall, cpu := timings{}, timings{}
	for round := range e.rounds {
		fmt.Fprintf(e.progress, "top %d: round %d of %d\n", topRows, round+1, e.rounds)
		for _, s := range rotated(fleet, round) {
			a, err := e.client.discard(ctx, s, q)
			if err != nil {
				return nil, err
			}
			wall.add(s, a.wall)
			cpu.add(s, a.cpu)
		}
	}
	r := compared("S12", wall, cpu, serverNode, 5)
	if r.why != "" {
		return []result{r}, nil
	}
	for _, s := range fleet {
		peak, err := s.peakMemory()
		if err != nil {
			r.figure += "; memory not measured: " + err.Error()
			return []result{r}, nil
		}
		r.figure += fmt.Sprintf("; %s peak %s", s.kind, megabytes(peak))
		if s.kind == serverSDK {
			r.met = r.met && peak <= mostMemory
		}
	}
	return []result{r}, nil
}
