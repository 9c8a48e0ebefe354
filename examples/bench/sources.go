package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// S17: each kind of source against the same done by hand.

// sourceKind is a way in which the reference table is stored. The parent stores the
// rows; three servers read them: a connector, a program by hand, and one that reads
// all rows and sends one.
type sourceKind struct {
	name string
	// store stores the first rows of the table. The servers are told at.
	store func(ctx context.Context, dir string, rows int) (at string, remove func(), err error)
	// source returns the package's source over them.
	source func(at string, rows int) (connector.Source, error)
	// read calls each with every row, as a program by hand would, until it fails.
	read func(at string, rows int) (func(each func(*record) error) error, error)
	// scan counts the rows: what the driver or the parser alone does. Nil if the rows
	// are at hand.
	scan func(at string) (int, error)
}

// The servers of a kind, each named with the kind before it, as "CSV by hand".
const (
	sideSource = " source"
	sideHand   = " by hand"
	sideBare   = " bare read"
)

const (
	sourceShare = 4    // S17 reads this part of the rows, as many kinds are measured
	mostOfBare  = 1.25 // of the bare read's processor time, at most, or
	timesByHand = 2    // times the speed of the program by hand, at least
)

// tenant is the tenant of the sources that have some.
const tenant = "shop"

// sourceHandler returns one of the servers of a kind. It reports false if there is
// none of that name.
func sourceHandler(name, at string, rows int) (h http.Handler, ok bool, err error) {
	for _, k := range sourceKinds {
		side, found := strings.CutPrefix(name, k.name)
		if !found {
			continue
		}
		switch side {
		case sideSource:
			s, err := k.source(at, rows)
			if err != nil {
				return nil, true, err
			}
			h, err := newHandler(connector.Definition{Slug: "bench-sources", Credentials: filesource.Credentials()}, s)
			return h, true, err
		case sideHand:
			read, err := k.read(at, rows)
			return rivalHandler(rows, func(w io.Writer, n int) error { return writeRecords(w, n, read) }), true, err
		case sideBare:
			return rivalHandler(rows, func(w io.Writer, _ int) error { return writeScanned(w, rows, at, k.scan) }), true, nil
		}
	}
	return nil, false, nil
}

// writeScanned reads all rows, and writes one.
func writeScanned(w io.Writer, rows int, at string, scan func(at string) (int, error)) error {
	n, err := scan(at)
	if err == nil && n != rows {
		err = fmt.Errorf("the bare read found %d rows instead of %d", n, rows)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return err
	}
	line, err := prebuiltLine(1)
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}

// sources measures S17.
func (e *experiment) sources(ctx context.Context) (results []result, err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, k := range sourceKinds {
		fmt.Fprintf(e.progress, "sources: %s\n", k.name)
		r, err := e.source(ctx, &k, filepath.Join(dir, k.name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

func (e *experiment) source(ctx context.Context, k *sourceKind, dir string) (r result, err error) {
	r = result{id: "S17", part: k.name}
	rows := max(1, e.rows/sourceShare)
	if err := os.MkdirAll(filepath.Join(dir, tenant), 0o755); err != nil {
		return r, err
	}
	at, remove, err := k.store(ctx, dir, rows)
	if notHere(err) {
		r.why = err.Error()
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer remove()
	sides := []string{sideSource, sideHand}
	if k.scan != nil {
		sides = append(sides, sideBare)
	}
	fleet := make([]*server, 0, len(sides))
	defer func() {
		e.client.close()
		for _, s := range fleet {
			s.stop()
		}
	}()
	for _, side := range sides {
		s, err := start(ctx, k.name+side, rows, "-at", at)
		if err != nil {
			return r, err
		}
		fleet = append(fleet, s)
		if side == sideBare {
			_, err = e.client.discard(ctx, s, query()) // it sends one row
		} else {
			err = e.client.verify(ctx, s, min(rows, verifiedRows))
		}
		if err != nil {
			return r, err
		}
		s.kind = side
	}
	wall, cpu, first := timings{}, timings{}, timings{}
	for round := range e.rounds {
		for _, s := range rotated(fleet, round) {
			a, err := e.client.discard(ctx, s, query())
			if err != nil {
				return r, err
			}
			wall.add(s, a.wall)
			cpu.add(s, a.cpu)
			first.add(s, a.first)
		}
	}
	hand := ratioOf(wall[sideSource], wall[sideHand])
	r.met = hand.mid >= timesByHand
	r.figure = fmt.Sprintf("%.1fx by hand (%.1f to %.1f)", hand.mid, hand.low, hand.high)
	if k.scan != nil && cpu.median(sideBare) >= 5*tick {
		bare := ratioOf(cpu[sideBare], cpu[sideSource])
		r.met = r.met || bare.mid <= mostOfBare
		r.figure += fmt.Sprintf(", processor time %.2fx of the bare read (%.2f to %.2f)", bare.mid, bare.low, bare.high)
	}
	for i, side := range []string{sideSource, sideHand} {
		r.figure += fmt.Sprintf(";%s %.0f rows/s, processor time %s, first row %s", side,
			float64(rows)/wall.median(side).Seconds(), spell(cpu.median(side)), spell(first.median(side)))
		if peak, err := fleet[i].peakMemory(); err == nil {
			r.figure += ", peak " + megabytes(peak)
		}
	}
	return r, nil
}

// record is a row as a program by hand declares it.
type record struct {
	ID      int64   `json:"id"`
	UUID    string  `json:"uuid"`
	Name    string  `json:"name"`
	Email   string  `json:"email"`
	Status  string  `json:"status"`
	Amount  string  `json:"amount"`
	Qty     int64   `json:"qty"`
	Price   float64 `json:"price"`
	Active  bool    `json:"active"`
	Created string  `json:"created_at"`
	Note    string  `json:"note"`
	Region  *string `json:"region"`
}

// record returns the row as a program by hand declares it.
func (o *order) record() record {
	var region *string
	if o.region != "" {
		region = &o.region
	}
	return record{o.id, o.uuid, o.name, o.email, o.status, o.amount, o.qty, o.price, o.active,
		o.created.Format(time.RFC3339), o.note, region}
}

// writeRecords encodes the first n of the rows that read calls it with.
func writeRecords(w io.Writer, n int, read func(each func(*record) error) error) error {
	enc := newEncoder(w)
	var line struct {
		Rows []record `json:"rows"`
	}
	flush := func() error {
		if len(line.Rows) == 0 {
			return nil
		}
		err := enc.Encode(line)
		line.Rows = line.Rows[:0]
		return err
	}
	err := read(func(r *record) error {
		if n == 0 {
			return io.EOF
		}
		n--
		line.Rows = append(line.Rows, *r)
		if len(line.Rows) == wire.MaxBatchRows {
			return flush()
		}
		return nil
	})
	if err != nil && err != io.EOF {
		fmt.Fprintln(os.Stderr, err)
		return err
	}
	return flush()
}
