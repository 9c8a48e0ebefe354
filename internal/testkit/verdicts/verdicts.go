// Package verdicts reads wire/testdata/verdicts for the tests of the packages that are held
// to it, and knows the messages that they are about. It imports package wire only.
package verdicts

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// A Verdict is a case: a message, whether it is legal, and why. The README of the folder
// explains the members.
type Verdict struct {
	Why         string          `json:"why"`
	Valid       bool            `json:"valid"`
	Path        string          `json:"path"`
	DecoderOnly bool            `json:"decoderOnly"`
	Body        json.RawMessage `json:"body"`
	Text        *string         `json:"text"`
	Base64      []byte          `json:"base64"`
}

// Message returns the message as it is sent.
func (v Verdict) Message() []byte {
	switch {
	case v.Text != nil:
		return []byte(*v.Text)
	case v.Base64 != nil:
		return v.Base64
	}
	return v.Body
}

// Read returns the cases of a folder; an empty folder ends the test.
func Read(t testing.TB, folder string) (all []Verdict) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no cases (%v)", folder, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		var cases []Verdict
		if err := d.Decode(&cases); err != nil || len(cases) == 0 {
			t.Fatalf("%s: %d cases, %v", file, len(cases), err)
		}
		all = append(all, cases...)
	}
	return all
}
