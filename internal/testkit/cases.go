package testkit

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"
)

// Cases returns the test cases of a JSON file: an array of objects that have members of T and no others. A
// case that leaves its member Why empty, or a file without cases, ends the test.
func Cases[T any](t testing.TB, file string) (cases []T) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(Must(os.ReadFile(file))(t)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&cases); err != nil || len(cases) == 0 {
		t.Fatalf("%s: %d cases, %v", file, len(cases), err)
	}
	for i, c := range cases {
		if why := reflect.ValueOf(c).FieldByName("Why"); why.IsValid() && why.IsZero() {
			t.Fatalf("%s: case %d does not say why it is there", file, i)
		}
	}
	return cases
}

// A Duration is spelled as in "1m30s" in a file of cases.
type Duration struct{ time.Duration }

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}
