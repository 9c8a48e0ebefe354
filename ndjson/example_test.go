package ndjson_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A whole answer. A row that does not fit any more goes into the next batch.
func ExampleWriter() {
	planets := [][]wire.Value{
		{wire.Int(1), wire.Text("Mercury"), wire.Decimal("0.330"), wire.Null()},
		{wire.Int(2), wire.Text("Venus"), wire.Decimal("4.87"), wire.Null()},
		{wire.Int(3), wire.Text("Earth"), wire.Decimal("5.97"), wire.Array(wire.Text("Moon"))},
	}

	w := ndjson.NewWriter(os.Stdout)
	if err := w.Served(wire.Served{Filters: true, Sort: true}); err != nil {
		fmt.Println(err)
		return
	}
	layout, err := ndjson.NewLayout([]string{"id", "name", "mass", "moons"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := layout.NewBatch()
	for _, row := range planets {
		err := batch.Append(row)
		if err == ndjson.ErrFull {
			if err := w.Rows(batch); err != nil {
				fmt.Println(err)
				return
			}
			batch.Reset()
			err = batch.Append(row)
		}
		if err != nil {
			// A cell that cannot cross the wire, or a row too large for a line.
			fmt.Println(w.Error(wire.Errorf(wire.CodeInternal, wire.InternalMessage)))
			return
		}
	}
	if err := w.Rows(batch); err != nil {
		fmt.Println(err)
		return
	}
	if err := w.End(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"served":{"filters":true,"sort":true,"window":false}}
	// {"rows":[{"id":1,"name":"Mercury","mass":"0.330","moons":null},{"id":2,"name":"Venus","mass":"4.87","moons":null},{"id":3,"name":"Earth","mass":"5.97","moons":"[\"Moon\"]"}]}
	// {"end":1}
}

// The loop ends without an error only when the stream is complete.
func ExampleReader_Rows() {
	stream := `{"served":{"filters":true,"sort":false,"window":false}}
{"rows":[{"name":"Mercury","moons":0},{"name":"Venus","moons":0}]}
{"ping":1}
{"rows":[{"name":"Earth","moons":1}]}
{"end":1}
`
	r := ndjson.NewReader(strings.NewReader(stream))
	for row, err := range r.Rows() {
		if err != nil {
			fmt.Println("failed:", err)
			return
		}
		name, _ := row.Get("name")
		moons, _ := row.Get("moons")
		fmt.Println(name, moons)
	}
	served, _ := r.Served()
	fmt.Println("filtered:", served.Filters, "sorted:", served.Sort)
	// Output:
	// Mercury 0
	// Venus 0
	// Earth 1
	// filtered: true sorted: false
}

// An answer that failed, and one that was cut, are told apart by their errors.
func ExampleReader_Rows_errors() {
	for _, stream := range []string{
		"{\"rows\":[{\"id\":1}]}\n{\"error\":{\"code\":\"timeout\",\"message\":\"no row for 30 seconds\"}}\n",
		"{\"rows\":[{\"id\":1}]}\n",
		"{\"rows\":[{\"id\":1},{\"id\":[2]}]}\n{\"end\":1}\n",
	} {
		for _, err := range ndjson.NewReader(strings.NewReader(stream)).Rows() {
			var answered *wire.Error
			var broken *ndjson.LineError
			switch {
			case errors.As(err, &answered):
				fmt.Println("the connector says:", answered.Message)
			case errors.As(err, &broken):
				fmt.Println("not a sound stream:", broken)
			}
		}
	}
	// Output:
	// the connector says: no row for 30 seconds
	// not a sound stream: ndjson: line 2: the stream ends without an end or error line: unexpected EOF
	// not a sound stream: ndjson: line 1: rows[1]: member 1: invalid JSON at byte 24: expected a string, a number, true, false or null
}

// A judge of streams looks at the lines themselves.
func ExampleReader_Lines() {
	stream := `{"ping":1}
{"served":{"filters":false,"sort":false,"window":false}}
{"rows":[{"id":1},{"id":2}]}
{"end":1}
`
	for line, err := range ndjson.NewReader(strings.NewReader(stream)).Lines() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(line.Kind, line.Bytes, len(line.Rows))
	}
	// Output:
	// ping 11 0
	// served 57 0
	// rows 29 2
	// end 10 0
}

// Members are picked from a positional row, in any order (B5).
func ExampleLayout() {
	layout, err := ndjson.NewLayout([]string{"city", "id"}, []int{2, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := layout.NewBatch()
	if err := batch.Append([]wire.Value{wire.Int(7), wire.Text("not asked for"), wire.Text("Oslo")}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d row, %d bytes: %s", batch.Len(), batch.Size(), batch.Line())
	// Output: 1 row, 34 bytes: {"rows":[{"city":"Oslo","id":7}]}
}

// A cell that cannot cross the wire fails its row, and only its row (D1, D4).
func ExampleBatch_Append() {
	layout, err := ndjson.NewLayout([]string{"total"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := layout.NewBatch()
	fmt.Println(batch.Append([]wire.Value{wire.Decimal("1,250.00")}))
	fmt.Println(batch.Append([]wire.Value{wire.Decimal("1250.00")}))
	fmt.Printf("%s", batch.Line())
	// Output:
	// column "total": not plain decimal digits; a decimal is an optional sign, digits, and optionally a dot and digits
	// <nil>
	// {"rows":[{"total":"1250.00"}]}
}
