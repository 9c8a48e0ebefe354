package enginetest

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// queryer is a database, a connection or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
}

// textsOf returns the columns and the rows of a statement's answer as texts.
func textsOf(t testing.TB, q queryer, statement string, args ...any) (names []string, texts [][]sql.NullString) {
	t.Helper()
	rows, err := q.QueryContext(t.Context(), statement, args...)
	require.NoError(t, err, statement)
	defer func() { require.NoError(t, rows.Close()) }()
	names, err = rows.Columns()
	require.NoError(t, err)
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
