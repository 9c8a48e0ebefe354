package memsource_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type page struct {
	rows [][]wire.Value
	next string
	err  error
}

// upstream answers pages by cursor, and keeps a list of what was asked for.
func upstream(asked *[]string, pages map[string]page) func(context.Context, string) ([][]wire.Value, string, error) {
	return func(_ context.Context, cursor string) ([][]wire.Value, string, error) {
		*asked = append(*asked, cursor)
		p := pages[cursor]
		return p.rows, p.next, p.err
	}
}

func TestPages(t *testing.T) {
	ends := map[string]error{"repeats": memsource.ErrCursorRepeats, "fails": errUpstream}
	for _, c := range testkit.Table(t, "testdata/pages.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			pages := map[string]page{}
			for word := range strings.FieldsSeq(c[1]) {
				cursor, rest, _ := strings.Cut(word, "=")
				cell, next, _ := strings.Cut(rest, ">")
				p := page{next: strings.TrimSuffix(next, "!")}
				if cell != "" {
					p.rows = [][]wire.Value{cells.Row(t, cell)}
				}
				if p.next != next {
					p.err = errUpstream
				}
				pages[cursor] = p
			}
			var asked []string
			rows := memsource.Pages(t.Context(), upstream(&asked, pages))
			for range 2 { // ranging again fetches again
				asked = nil
				got := []string{}
				var last error
				for r, err := range rows {
					require.NoError(t, last, "nothing follows an error")
					if last = err; err == nil {
						got = append(got, cells.Spelled(t, r)...)
					}
				}
				assert.ErrorIs(t, last, ends[c[4]])
				assert.Equal(t, c[2], strings.Join(got, " "))
				assert.Equal(t, c[3], fmt.Sprintf("%q", asked))
			}
		})
	}
}

// TestPagesEndEveryLoop: a walk that leads into a loop of any length ends.
func TestPagesEndEveryLoop(t *testing.T) {
	for tail := range 20 {
		for loop := 1; loop < 20; loop++ {
			asked := 0
			rows := memsource.Pages(t.Context(), func(_ context.Context, cursor int) ([][]wire.Value, int, error) {
				asked++
				if cursor+1 == 1+tail+loop {
					return nil, 1 + tail, nil
				}
				return nil, cursor + 1, nil
			})
			var last error
			for _, err := range rows {
				last = err
			}
			require.ErrorIs(t, last, memsource.ErrCursorRepeats)
			assert.LessOrEqual(t, asked, 2*tail+3*loop+2, "after at most three rounds, or twice the way there")
		}
	}
}

func TestPagesStop(t *testing.T) {
	t.Run("when no more rows are wanted", func(t *testing.T) {
		var asked []string
		rows := memsource.Pages(t.Context(), upstream(&asked, map[string]page{"": {[][]wire.Value{row(num(1)), row(num(2))}, "b", nil}}))
		for _, err := range rows {
			require.NoError(t, err)
			break
		}
		assert.Equal(t, []string{""}, asked, "stream-7: no page is fetched ahead")
	})
	t.Run("when the context ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var got []error
		asked := 0
		for _, err := range memsource.Pages(ctx, func(inner context.Context, cursor int) ([][]wire.Value, int, error) {
			assert.Equal(t, ctx, inner)
			asked++
			cancel()
			return nil, cursor + 1, nil
		}) {
			got = append(got, err)
		}
		assert.Equal(t, 1, asked, "stream-8: the context is checked between pages")
		require.Len(t, got, 1)
		assert.ErrorIs(t, got[0], context.Canceled)
	})
	t.Run("before the first page", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range memsource.Pages(ctx, func(context.Context, int) ([][]wire.Value, int, error) {
			t.Error("fetched")
			return nil, 0, nil
		}) {
			assert.ErrorIs(t, err, context.Canceled)
		}
	})
}

// A REST API that answers {"items": [...], "next": "..."}, as a source.
func ExamplePages() {
	// The upstream's client; in a real source it takes the tenant's credentials and does an HTTP request with ctx.
	list := func(_ context.Context, after string) (names []string, next string, err error) {
		switch after {
		case "":
			return []string{"Ada", "Bo"}, "2", nil
		case "2":
			return nil, "3", nil
		case "3":
			return []string{"Cy"}, "", nil
		}
		return nil, "", errors.New("no such page")
	}

	rows := memsource.Pages(context.Background(), func(ctx context.Context, cursor string) ([][]wire.Value, string, error) {
		names, next, err := list(ctx, cursor)
		if err != nil {
			return nil, "", err
		}
		rows := make([][]wire.Value, len(names))
		for i, name := range names {
			rows[i] = []wire.Value{wire.Text(name), wire.Int(int64(len(name)))}
		}
		return rows, next, nil
	})

	// In a source: return out.Begin(columns).All(rows)
	for row, err := range rows {
		fmt.Println(row, err)
	}
	// Output:
	// [Ada 3] <nil>
	// [Bo 2] <nil>
	// [Cy 2] <nil>
}

// The upstream's words may reach the platform only when an author means them to.
func ExamplePages_errors() {
	rows := memsource.Pages(context.Background(), func(_ context.Context, page int) ([][]wire.Value, int, error) {
		status := 429
		if status != 200 {
			return nil, 0, connector.UpstreamTimeout("the upstream is busy (status %s); try again later", strconv.Itoa(status))
		}
		return nil, 0, nil
	})
	for _, err := range rows {
		fmt.Println(err)
	}
	// Output: timeout: the upstream is busy (status 429); try again later
}
