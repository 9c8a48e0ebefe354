package runs

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEvents reads event streams as the standard defines them, in pieces of one byte.
func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"three ends of lines", "data: a\n\ndata: b\r\n\r\ndata: c\r\r", []string{"a", "b", "c"}},
		{"one space is cut", "data:  a\n\ndata:b\n\n", []string{" a", "b"}},
		{"several lines", "data: a\ndata\ndata: b\n\n", []string{"a\n\nb"}},
		{"comments and other fields", ": x\nid: 1\nevent: e\nretry: 5\ndata: a\n:\n\n", []string{"a"}},
		{"no data is no event", "event: e\n\n\n\ndata: a\n\n", []string{"a"}},
		{"cut off", "data: a\n\ndata: b\n", []string{"a"}},
		{"empty data", "data:\n\n", []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReader(iotest.OneByteReader(strings.NewReader(tt.text)), func() {})
			var got []string
			for {
				data, err := r.next()
				if err != nil {
					require.ErrorIs(t, err, io.EOF)
					break
				}
				got = append(got, string(data))
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// FuzzEvents: how the bytes arrive changes nothing, and no text makes a message longer
// than it may be.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: a\r\n\r\n", ": x\n\ndata\ndata: b\n\n", "data: {}\r\rdata", "\n\r\n\r"} {
		f.Add(seed)
	}
	read := func(in io.Reader) (events []string) {
		for r := newReader(in, func() {}); ; {
			data, err := r.next()
			if err != nil {
				return events
			}
			events = append(events, string(data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole := read(strings.NewReader(text))
		assert.Equal(t, whole, read(iotest.OneByteReader(strings.NewReader(text))))
		for _, event := range whole {
			assert.LessOrEqual(t, len(event), maxMessage)
			assert.NotContains(t, event, "\r")
		}
	})
}
