package ndjson_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A whole answer. The writer collects rows into lines.
func ExampleWriter() {
	planets := [][]wire.Value{
		{wire.Int(1), wire.Text("Mercury"), wire.Decimal("0.330"), wire.Null()},
		{wire.Int(2), wire.Text("Venus"), wire.Decimal("4.87"), wire.Null()},
		{wire.Int(3), wire.Text("Earth"), wire.Decimal("5.97"), wire.Array(wire.Text("Moon"))},
	}
	write := func(w *ndjson.Writer) error {
		if err := w.Begin(wire.Served{Filters: true, Sort: true}, "id", "name", "mass", "moons"); err != nil {
			return err
		}
		for _, planet := range planets {
			if err := w.Row(planet...); err != nil {
				return err
			}
		}
		return w.End()
	}

	w := ndjson.NewWriter(os.Stdout)
	if err := write(w); err != nil {
		fmt.Println(w.Error(wire.Errorf(wire.CodeInternal, terms.InternalMessage)))
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

// A value that cannot cross the wire fails its row, and only its row.
func ExampleWriter_Row() {
	w := ndjson.NewWriter(os.Stdout)
	_ = w.Begin(wire.Served{}, "total")
	fmt.Println(w.Row(wire.Decimal("1,250.00")))
	fmt.Println(w.Row(wire.Decimal("1250.00")))
	_ = w.End()
	// Output:
	// {"served":{"filters":false,"sort":false,"window":false}}
	// column "total": not plain decimal digits; a decimal is an optional sign, digits, and optionally a dot and digits
	// <nil>
	// {"rows":[{"total":"1250.00"}]}
	// {"end":1}
}
