package platform

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// exactSizes are the sizes of tables that were stated or counted exactly. Other counts of the
// same table are compared with them. As live data may move, a contradiction is a note.
type exactSizes struct {
	mu   sync.Mutex
	rows map[string]int64
}

// of returns the exact size of a table, or -1 if none is known.
func (s *exactSizes) of(table string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rows, known := s.rows[table]; known {
		return rows
	}
	return -1
}

// see remembers a size, and notes that the one before was another.
func (s *exactSizes) see(table string, size *wire.Size, stats *Stats) {
	if !size.Exact {
		return
	}
	if before := s.of(table); before >= 0 && before != size.Rows {
		stats.note("table %s: the exact size is %d, and was %d before", terms.QuoteName(table), size.Rows, before)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[string]int64{}
	}
	s.rows[table] = size.Rows
}

// note adds a note to an answer. It must not quote a cell.
func (s *Stats) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// noteCount notes a count of all rows that is not the exact size.
func (c *Connection) noteCount(table string, n int64, stats *Stats) {
	if rows := c.sizes.of(table); rows >= 0 && n != rows {
		stats.note("table %s: %d rows are counted, and the exact size is %d", terms.QuoteName(table), n, rows)
	}
}

// noteNonNull notes more cells in a column than the table has rows. It reports whether it did.
func (c *Connection) noteNonNull(table, column string, n int64, stats *Stats) bool {
	rows := c.sizes.of(table)
	if rows < 0 || n <= rows {
		return false
	}
	stats.note("table %s, field %s: %d cells are not null, and the exact size is %d rows",
		terms.QuoteName(table), terms.QuoteName(column), n, rows)
	return true
}

// noteCounts notes counts of a column that contradict the exact size, or what discovery says of it.
func (c *Connection) noteCounts(t *wire.Table, column string, n *wire.Cardinality, stats *Stats) {
	f, rows := t.Field(column), c.sizes.of(t.Name)
	if !c.noteNonNull(t.Name, column, n.NonNull, stats) && rows > n.NonNull && !f.Nullable {
		stats.note("table %s, field %s is not nullable: %d cells are not null, and the exact size is %d rows",
			terms.QuoteName(t.Name), terms.QuoteName(column), n.NonNull, rows)
	}
	if f.Unique && n.Distinct != n.NonNull {
		stats.note("table %s, field %s is unique: %d of %d cells are different",
			terms.QuoteName(t.Name), terms.QuoteName(column), n.Distinct, n.NonNull)
	}
}

// unserved notes which declared operators do not hold for the rows that came, although the connector was
// asked for them. That is no error where it says that it did not filter.
type unserved struct {
	claims *claims
	noted  []bool // by the filter
}

// see looks at a row that does not pass the filters.
func (u *unserved) see(table string, row []wire.Value, stats *Stats) {
	if _, wrong := u.claims.unfiltered(row); !wrong {
		return
	}
	if u.noted == nil {
		u.noted = make([]bool, len(u.claims.doubts))
	}
	for i, d := range u.claims.doubts {
		if u.noted[i] || passes(d.exact, row) || passes(d.bytes, row) {
			continue
		}
		u.noted[i] = true
		where := u.claims.where
		if i < len(where.And) {
			where.And, where.Or = where.And[i:i+1], nil
		} else {
			where.And = nil
		}
		var ops []string
		for f := range where.Filters() {
			if !slices.Contains(ops, string(f.Op)) {
				ops = append(ops, string(f.Op))
			}
		}
		text := fmt.Sprintf("table %s: the connector declares %s, and left rows in that do not pass; they were filtered here",
			terms.QuoteName(table), strings.Join(ops, ", "))
		if !slices.Contains(stats.Notes, text) {
			stats.Notes = append(stats.Notes, text)
		}
	}
}
