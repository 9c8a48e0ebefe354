package restsource

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

// sign is a member that usually says that a list is not whole, whatever the table
// declares. Signs are looked for because a list that is cut looks like one that is whole.
type sign struct {
	path string
	// says judges the member beside a list of so many rows; -1: null is in its place.
	says func(r textvalue.Raw, rows int) bool
}

// failures are signs that the rows of an answer are not all that it was asked for.
var failures = []sign{
	{"error", isError}, {"errors", isError}, {"success", isFalse}, {"ok", isFalse},
	{"partial", isTrue}, {"incomplete_results", isTrue}, {"timed_out", isTrue},
}

// flags say that a list goes on in another answer, whatever else the answer has.
var flags = []sign{
	{"has_more", isTrue}, {"hasMore", isTrue}, {"has_next_page", isTrue}, {"hasNextPage", isTrue}, {"pageInfo.hasNextPage", isTrue},
	{"has_next", isTrue}, {"hasNext", isTrue}, {"truncated", isTrue}, {"isTruncated", isTrue}, {"incomplete", isTrue},
	{"isLast", isFalse}, {"is_last", isFalse}, {"last", isFalse},
}

// continuations are signs that a list goes on, where nothing declared says that it ends.
var continuations = slices.Concat(flags, []sign{
	{"next", isPlace}, {"next_url", isPlace}, {"nextUrl", isPlace}, {"nextPage", isPlace}, {"next_page", isPlace},
	{"next_page_url", isPlace}, {"nextPageUrl", isPlace}, {"next_link", isPlace}, {"nextLink", isPlace},
	{"next_cursor", isPlace}, {"nextCursor", isPlace}, {"next_token", isPlace}, {"nextToken", isPlace},
	{"next_page_token", isPlace}, {"nextPageToken", isPlace},
	{"links.next", isPlace}, {"_links.next", isPlace}, {`@odata\.nextLink`, isPlace},
	{"total_pages", isMany}, {"totalPages", isMany}, {"last_page", isMany}, {"lastPage", isMany},
})

// totals are signs that a list goes on, where no total is declared.
var totals = []sign{
	{"totalCount", isAbove}, {"total_count", isAbove}, {"totalSize", isAbove},
	{"total_results", isAbove}, {"totalResults", isAbove}, {"totalElements", isAbove},
}

// boxes are members that often have the signs of an answer's list.
var boxes = []string{"meta", "pagination", "paging", "page", "response_metadata"}

func isError(r textvalue.Raw, rows int) bool {
	return !tellsNothing(r) || rows < 0 && !r.None() // where rows are missing, any word of errors counts
}

func isTrue(r textvalue.Raw, _ int) bool  { return r.Kind == textvalue.Bool && r.Text == "true" }
func isFalse(r textvalue.Raw, _ int) bool { return r.Kind == textvalue.Bool && r.Text == "false" }

func isPlace(r textvalue.Raw, _ int) bool {
	return !r.None() && !tellsNothing(r) && r.Kind != textvalue.Bool
}

func isAbove(r textvalue.Raw, rows int) bool {
	n, ok := jsontext.ExactInteger(r.Text)
	return r.Kind == textvalue.Number && ok && n > int64(max(0, rows))
}

func isMany(r textvalue.Raw, _ int) bool { return isAbove(r, 1) }

// signs are the signs of one list, found in one reading.
type signs struct {
	all    []sign
	paths  [][]string
	picker *picker
}

// signsAt returns those of the given signs that are below the given members of a value. It
// leaves out what lies on a declared path, which means what is declared.
func signsAt(given []sign, members, declared [][]string) signs {
	var s signs
	var paths [][]string
	for i, at := range members {
		if slices.ContainsFunc(members[:i], func(before []string) bool { return slices.Equal(before, at) }) {
			continue
		}
		for _, sign := range given {
			path := slices.Concat(at, splitPath(sign.path))
			if slices.ContainsFunc(declared, func(p []string) bool { return len(p) >= len(path) && slices.Equal(p[:len(path)], path) }) {
				continue
			}
			paths = append(paths, path)
			sign.path = joinPath(path)
			s.all = append(s.all, sign)
		}
	}
	s.paths, s.picker = paths, newPicker(paths...)
	return s
}

// of returns the path of a member that says that a list is not whole, or "".
func (s *signs) of(found []textvalue.Raw, rows int) string {
	for i, sign := range s.all {
		if sign.says(found[i], rows) {
			return sign.path
		}
	}
	return ""
}

// in reads a value that was parsed before, and returns as of does.
func (s *signs) in(text string, rows int) string {
	found := make([]textvalue.Raw, len(s.all))
	s.picker.pick(checked(text), found, 1)
	return s.of(found, rows)
}

// compileSigns sets where an answer may say that the list goes on, beyond what the table
// declares.
func (t *table) compileSigns() {
	rows := splitPath(t.Rows)
	if len(rows) == 0 {
		return
	}
	given := continuations
	if !t.counts() {
		given = slices.Concat(given, totals)
		for _, box := range boxes { // a total that stands alone may be a sum of money, and pages those of a book
			given = append(given, sign{box + ".total", isAbove}, sign{box + ".pages", isMany})
		}
	}
	members := [][]string{nil, rows[:len(rows)-1]}
	for _, at := range members[:2] {
		for _, box := range boxes {
			members = append(members, slices.Concat(at, []string{box}))
		}
	}
	declared := [][]string{rows, splitPath(t.Pages.Next), splitPath(t.Pages.HasMore)}
	t.flags, t.more = signsAt(flags, members, declared), signsAt(given, members, declared)
}

// continued fails if the last answer of a read says that there are more rows. known says
// that what Pages declares tells the end, so that only flags contradict it.
func (r *reading) continued(p *page, received int, known bool) error {
	if p.part && r.Pages.By == pagingNone {
		return &formError{r.Name, "the status 206 or the header Content-Range says that the answer is a part of the rows; declare Pages"}
	}
	signs := &r.more
	if known {
		signs = &r.flags
	}
	if len(signs.all) == 0 || p.text == "" {
		return nil
	}
	if r.few {
		received = math.MaxInt // a total may be that of more rows
	}
	if path := signs.in(p.text, received); path != "" {
		return &formError{r.Name, fmt.Sprintf("the member %q says that there are more rows, and Pages does not; "+
			"correct Pages, perhaps by HasMore, or remove the member by Unwrap if it means something else", path)}
	}
	return nil
}

// isPart reports whether the status or the headers of an answer say that there are more
// rows than those that it has.
func (a *answer) isPart(rows int) bool {
	_, total, _ := strings.Cut(a.header.Get("Content-Range"), "/")
	if n, err := strconv.Atoi(strings.TrimSpace(total)); err == nil {
		return n > rows
	}
	return a.status == http.StatusPartialContent
}
