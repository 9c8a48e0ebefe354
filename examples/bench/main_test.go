package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestMain lets the test binary run as the servers too, because the command starts
// itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-serve" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func bench(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestWholeRun(t *testing.T) {
	t.Parallel()
	code, out, errs := bench("-rows", "2000", "-rounds", "1")
	require.Equal(t, 0, code, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var want []string // the start of each line
	for _, g := range goals {
		if g.id != "S17" {
			want = append(want, "| "+g.id+" | "+g.work+" |")
			continue
		}
		for _, k := range sourceKinds {
			want = append(want, "| S17 | "+g.work+", "+k.name+" |")
		}
	}
	require.Len(t, lines, 2+len(want), out)
	require.Equal(t, "| Goal | Work | Wanted | Figure | Verdict |", lines[0])
	_, err := exec.LookPath("node")
	for i, start := range want {
		require.True(t, strings.HasPrefix(lines[2+i], start), "%s\n%s", start, lines[2+i])
		cells := strings.Split(lines[2+i], " | ")
		require.Len(t, cells, 5, lines[2+i])
		id, verdict := strings.TrimPrefix(cells[0], "| "), strings.TrimSuffix(cells[4], " |")
		if err != nil && (id == "S3" || id == "S6" || id == "S12") {
			require.Equal(t, "skipped: "+errNoNode.Error(), verdict)
			continue
		}
		if verdict == "skipped: "+errNoPostgres.Error() && os.Getenv("CI") != "true" {
			continue
		}
		require.Contains(t, []string{"met", "missed"}, verdict, "whether a goal is met depends on the machine; that it is judged does not")
		require.Regexp(t, `\d`, cells[3])
	}
}

func TestOnly(t *testing.T) {
	code, out, errs := bench("-rows", "500", "-rounds", "2", "-only", "S5,S4")
	require.Equal(t, 0, code, errs)
	require.Equal(t, 4, strings.Count(out, "\n"), out)
	require.Contains(t, out, "| S4 |")
	require.Contains(t, out, "| S5 |")
}

func TestWrongFlags(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/flags.tsv", 3) {
		t.Run(c[0], func(t *testing.T) {
			code, out, errs := bench(strings.Fields(c[1])...)
			require.Equal(t, 2, code)
			require.Empty(t, out)
			require.Contains(t, errs, c[2])
		})
	}
}

// Every kind of source answers the rows of the table, cell by cell, and so does the
// program by hand. Both heed the limit.
func TestSourcesAnswerTheTable(t *testing.T) {
	for _, k := range sourceKinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			const rows = 2500 // several pages, and a last one that is not full
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, tenant), 0o755))
			at, remove, err := k.store(t.Context(), dir, rows)
			if notHere(err) && os.Getenv("CI") != "true" {
				t.Skip(err)
			}
			require.NoError(t, err)
			defer remove()
			c := newClient()
			defer c.close()
			for _, side := range []string{sideSource, sideHand} {
				s := testkit.Must(start(t.Context(), k.name+side, rows, "-at", at))(t)
				defer s.stop()
				require.NoError(t, c.verify(t.Context(), s, rows))
				require.NoError(t, c.verify(t.Context(), s, 1), "the limit is heeded")
			}
			if k.scan == nil {
				return
			}
			require.Equal(t, rows, testkit.Must(k.scan(at))(t))
			more := testkit.Must(start(t.Context(), k.name+sideBare, rows+1, "-at", at))(t)
			defer more.stop()
			_, err = c.discard(t.Context(), more, query())
			require.ErrorContains(t, err, "ended its answer early", "a bare read that misses a row is no figure")
		})
	}
}

func TestUnknownServer(t *testing.T) {
	code, _, errs := bench("-serve", "nothing")
	require.Equal(t, 1, code)
	require.Contains(t, errs, `no server "nothing"`)
}

// Every server answers the rows of the table, cell by cell, heeds the limit, and
// ends by itself.
func TestServersAnswerTheTable(t *testing.T) {
	for _, kind := range []string{serverSDK, serverMaps, serverPrebuilt, serverNode} {
		t.Run(kind, func(t *testing.T) {
			if kind == serverNode {
				testkit.Needs(t, "node")
			}
			const rows = 12_000
			s := testkit.Must(start(t.Context(), kind, rows))(t)
			c := newClient()
			require.NoError(t, c.verify(t.Context(), s, rows))
			require.NoError(t, c.verify(t.Context(), s, 1), "the limit is heeded")
			a := testkit.Must(c.discard(t.Context(), s, query()))(t)
			require.Positive(t, a.first)
			require.GreaterOrEqual(t, a.wall, a.first)
			c.close()
			s.stop()
			require.True(t, s.cmd.ProcessState.Success(), "it ends when its standard input does")
			_, err := http.Get(s.url)
			require.Error(t, err, "nothing listens any more")
		})
	}
}

func TestVerifyTellsOtherRows(t *testing.T) {
	s := testkit.Must(start(t.Context(), serverPrebuilt, 2*prebuiltRows))(t)
	defer s.stop()
	c := newClient()
	defer c.close()
	s.kind = serverSDK // of which verify expects that no row comes twice
	require.ErrorIs(t, c.verify(t.Context(), s, 2*prebuiltRows), errNotTheRows)
}

func TestServersEndWithTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := testkit.Must(start(ctx, serverMaps, 10))(t)
	cancel()
	require.Error(t, s.cmd.Wait(), "it was killed")
	_, err := http.Get(s.url)
	require.Error(t, err)
}
