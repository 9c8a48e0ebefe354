package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// plansOf is how an engine says how it executes a statement.
type plansOf struct {
	// explain stands before a statement.
	explain string
	// searched matches a plan that finds rows by the index of a column, which stands for %s, and
	// ordered one that reads them in its order.
	searched, ordered string
	// scans match plans that read a whole table, sorts plans that sort it.
	scans, sorts []string
}

// usesIndex asks the requests of a section uses-index, of which no answer is read. The lines that
// follow each are held against the engine's plans of its statements: "search column" and
// "order column" want the index of a column and no reading of the whole table, "find column" wants
// the index alone. Other lines are regular expressions: "+" that must match, "-" that must not.
func usesIndex(t *testing.T, e *engine, db *database, f *situation.Section) {
	logged, log := db.logged(t)
	a := &situation.Asking{Tenant: logged.caller(t, nil).Unverified()}
	var plan, asked string
	for line := range strings.Lines(f.Text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		want := func(pattern string) { require.Regexp(t, regexp.MustCompile("(?m)"+pattern), plan, asked) }
		never := func(patterns ...string) {
			for _, p := range patterns {
				require.NotRegexp(t, regexp.MustCompile("(?m)"+p), plan, asked)
			}
		}
		switch word {
		case "#", "":
		case "search":
			want(fmt.Sprintf(e.plans.searched, rest))
			never(e.plans.scans...)
		case "order":
			want(fmt.Sprintf(e.plans.ordered, rest))
			never(e.plans.scans[0])
			never(e.plans.sorts...)
		case "find":
			want(fmt.Sprintf(e.plans.searched, rest))
			never(e.plans.scans[0])
		case "+":
			want(rest)
		case "-":
			never(rest)
		default:
			log.take()
			asked = line
			require.NotRegexp(t, `(?m)^(declined$|\w+: |rows, and then$)`, a.Answer(t, request(line)), line)
			plan = ""
			for _, s := range log.take() {
				if strings.Contains(s.query, " t0") {
					plan += s.query + "\n" + explained(t, db.DB, e.plans.explain+s.query, s.args) + "\n"
				}
			}
		}
	}
}

// explained returns the engine's answer to EXPLAIN, a line for each row.
func explained(t *testing.T, db queryer, statement string, args []any) string {
	t.Helper()
	var text strings.Builder
	names, rows := textsOf(t, db, statement, args...)
	for _, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(&text, "%s=%s ", names[i], cell.String)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// plans collects what a source observes.
type plans struct {
	mu  sync.Mutex
	all []string
}

func (p *plans) add(_ context.Context, plan sqlsource.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, plan.String())
}

// take returns what was observed since the last call, without the statements and with them.
func (p *plans) take() (summary, whole string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	whole = strings.Join(p.all, "")
	p.all = nil
	for line := range strings.Lines(whole) {
		if !strings.HasPrefix(line, "  statement: ") {
			summary += line
		}
	}
	return summary, whole
}

// queryer is a database, a connection or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
}

// textsOf returns the columns and the rows of a statement's answer as texts.
func textsOf(t testing.TB, q queryer, statement string, args ...any) (names []string, texts [][]sql.NullString) {
	t.Helper()
	rows := testkit.Must(q.QueryContext(t.Context(), statement, args...))(t, statement)
	defer func() { require.NoError(t, rows.Close()) }()
	names = testkit.Must(rows.Columns())(t)
	for rows.Next() {
		cells := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		require.NoError(t, rows.Scan(into...))
		texts = append(texts, cells)
	}
	require.NoError(t, rows.Err())
	return names, texts
}

// linesOf returns a statement's answer with the columns of each row in one line.
func linesOf(t testing.TB, q queryer, separator, statement string, args ...any) (lines []string) {
	t.Helper()
	_, rows := textsOf(t, q, statement, args...)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			if cells[i] = c.String; !c.Valid {
				cells[i] = "null"
			}
		}
		lines = append(lines, strings.Join(cells, separator))
	}
	return lines
}
