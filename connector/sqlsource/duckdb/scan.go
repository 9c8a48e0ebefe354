package duckdb

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/memo"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A fileScan is what one reading of a CSV or JSON file has found. All of the file decides:
// the engine's own look at the first rows takes what follows for more of the same.
type fileScan struct {
	columns []evidence // in the order of the file
	rows    int64
	notes   []string
	// separator is that of a CSV that the engine reads as it is; empty: it does not.
	separator string
	// partial says that the file is too large, and only its header was read: rows and evidence are unknown.
	partial bool
	fault   *textfile.Fault // if it is set, nothing else is

	mu               sync.Mutex
	compared, agreed bool // with what the engine finds
}

// evidence is what was found of one column.
type evidence struct {
	name   string
	seen   textvalue.Class // of every cell
	values int64           // cells that are not null
	bytes  int64           // of their texts
	misfit int             // the first line that does not fit the declared type; 0: none

	whole, scale int  // the most digits before the dot of a number, and behind it
	inexact      bool // some number is not what a double with its digits is
	digits       int  // the most digits of a datetime's fraction
	early, late  bool // an instant before the year 1, or outside of what nanoseconds hold
	zoned        bool // some datetime has an offset
	odd          bool // the engine does not read some cell as it is meant
}

// note takes one cell into account.
func (e *evidence) note(c textvalue.Raw, rules textvalue.Rules, declared wire.Type, line int) {
	if c.None() {
		return
	}
	e.values++
	e.bytes += int64(len(c.Text))
	if declared != "" {
		e.fit(c, rules, declared, line)
	}
	if e.seen&textvalue.ClassText != 0 && declared == "" { // which it stays, whatever else it holds
		return
	}
	class, digits := rules.Classify(c)
	e.seen |= class
	switch class {
	case textvalue.ClassInteger, textvalue.ClassDecimal, textvalue.ClassFloat:
		e.number(c, rules)
	case textvalue.ClassDate, textvalue.ClassDatetime:
		e.instant(c, rules, digits)
	}
}

// fit notes whether a cell fits the type that somebody has declared.
func (e *evidence) fit(c textvalue.Raw, rules textvalue.Rules, declared wire.Type, line int) {
	v, err := rules.Value(c, declared, 9)
	switch {
	case err != nil:
		if e.misfit == 0 {
			e.misfit = line
		}
	case declared == wire.TypeNumber || declared == wire.TypeDecimal:
		if class, _ := rules.Classify(c); class&(textvalue.ClassInteger|textvalue.ClassDecimal) == 0 || c.Kind != textvalue.Plain {
			if e.odd = true; v.IsNull() {
				return
			}
			e.number(textvalue.Raw{Text: v.String(), Kind: textvalue.Number}, textvalue.Files)
		}
	case declared == wire.TypeBoolean:
		e.odd = e.odd || c.Text == "1" || c.Text == "0"
	}
}

// number notes the digits of a number.
func (e *evidence) number(c textvalue.Raw, rules textvalue.Rules) {
	text := strings.TrimPrefix(c.Text, "-")
	dot := strings.IndexByte(text, '.')
	if strings.ContainsAny(text, "eE+,") {
		plain, err := rules.Value(c, wire.TypeDecimal, 0)
		if err != nil {
			return
		}
		text = strings.TrimPrefix(plain.Text(), "-")
		dot = strings.IndexByte(text, '.')
		e.odd = true
	}
	whole, scale := len(text), 0
	if dot >= 0 {
		whole, scale = dot, len(text)-dot-1
	}
	if whole == 1 && text[0] == '0' {
		whole = 0
	}
	e.whole, e.scale = max(e.whole, whole), max(e.scale, scale)
	const always = 15 // digits that every double keeps
	if !e.inexact && whole+scale > always {
		if dot >= 0 {
			text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
		f, err := strconv.ParseFloat(text, 64)
		e.inexact = err != nil || strconv.FormatFloat(f, 'f', -1, 64) != text
	}
}

// The instants that a TIMESTAMP_NS holds.
var firstNano, lastNano = time.Date(1677, 9, 22, 0, 0, 0, 0, time.UTC), time.Date(2262, 4, 11, 0, 0, 0, 0, time.UTC)

// instant notes how a date or a datetime is spelled.
func (e *evidence) instant(c textvalue.Raw, rules textvalue.Rules, digits int) {
	at, _ := rules.Instant(c.Text)
	e.digits = max(e.digits, digits)
	e.early = e.early || at.Time.Year() < 1
	e.late = e.late || at.Time.Before(firstNano) || !at.Time.Before(lastNano)
	const date, seconds = len("2006-01-02"), len("2006-01-02T15:04:05")
	text := c.Text
	if len(text) == date {
		e.odd = e.odd || text[4] != '-' // as in 31.12.2024
		return
	}
	if len(text) < seconds || text[4] != '-' || text[16] != ':' {
		e.odd = true
		return
	}
	rest := text[seconds:]
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		rest = strings.TrimLeft(fraction, "0123456789")
		e.odd = e.odd || len(fraction)-len(rest) > 9
	}
	switch {
	case rest == "" || rest == "Z":
	case len(rest) == len("+01:00") && rest[3] == ':':
		e.zoned = true
	default:
		e.odd = true
	}
}

// merge adds the evidence of the same column of another file.
func (e *evidence) merge(other evidence) {
	e.seen |= other.seen
	e.values += other.values
	e.whole, e.scale, e.digits = max(e.whole, other.whole), max(e.scale, other.scale), max(e.digits, other.digits)
	e.inexact, e.early, e.late = e.inexact || other.inexact, e.early || other.early, e.late || other.late
	e.zoned, e.odd = e.zoned || other.zoned, e.odd || other.odd
}

// textVersion identifies what was scanned.
type textVersion struct {
	info    os.FileInfo
	format  string
	budget  bool // the file is not larger than what is read for its types
	started time.Time
}

func (v textVersion) Same(now textVersion) bool {
	return v.format == now.format && v.budget == now.budget && memo.SameVersion(v.info, now.info)
}

func (v textVersion) Settled() bool { return memo.Rested(v.info, v.started) }

// textFile is a CSV or JSON file of a table.
type textFile struct {
	path   string
	shown  string // its path below the folder
	info   os.FileInfo
	format textfile.Format
}

// open opens the records of a file, which must be the version that the request has
// found. names are its columns, if they are known.
func (f *textFile) open(names []string) (textfile.Records, io.Closer, error) {
	opened, err := os.Open(f.path)
	if err != nil {
		return nil, nil, err
	}
	records, err := f.records(opened, names)
	if err != nil {
		_ = opened.Close()
		return nil, nil, err
	}
	return records, opened, nil
}

func (f *textFile) records(opened *os.File, names []string) (textfile.Records, error) {
	if now, err := opened.Stat(); err != nil || !memo.SameVersion(f.info, now) {
		return nil, errors.Join(errChanged, err)
	}
	var text io.Reader = opened
	name := unzippedName(f.shown)
	if name != f.shown {
		unzipped, err := gzip.NewReader(opened)
		if err != nil {
			return nil, &textfile.Fault{File: f.shown, Problem: "it is not compressed by gzip, although its name says so"}
		}
		text = unzipped
	}
	if strings.EqualFold(path.Ext(name), ".json") {
		return textfile.OpenJSON(f.shown, text, f.format, names)
	}
	return textfile.Open(name, text, f.format, names)
}

// unzippedName returns the name of a file without the extension of gzip.
func unzippedName(file string) string {
	if ext := path.Ext(file); strings.EqualFold(ext, ".gz") {
		return strings.TrimSuffix(file, ext)
	}
	return file
}

var errChanged = errors.New("the file changed while it was read")

// scan reads a file. typed is false for one whose columns are texts without a look at the
// cells. Only the header of such a file is read, unless the engine is known to answer what
// no reader must. It takes the early end of a compressed file for the end of the rows,
// checks no sum of it, and counts a blank line as a row where there is one column.
func (f *textFile) scan(typed bool) (*fileScan, error) {
	all, file, err := f.open(nil)
	if err != nil {
		return f.faulty(err)
	}
	defer func() { _ = file.Close() }()
	s := &fileScan{partial: !typed && unzippedName(f.shown) == f.shown && len(all.Names()) != 1}
	if separator, plain := textfile.Dialect(all); plain {
		s.separator = string(separator)
	}
	var declared []wire.Type
	rules := f.format.Rules()
	for more := true; more; {
		var cells []textvalue.Raw
		if !s.partial {
			cells, err = all.Next()
		} else {
			err = io.EOF
		}
		for _, name := range all.Names()[len(s.columns):] {
			e := evidence{name: name}
			if !typed {
				e.seen = textvalue.ClassText
			}
			s.columns = append(s.columns, e)
			declared = append(declared, f.format.Types[name])
		}
		switch {
		case errors.Is(err, io.EOF):
			more = false
		case err != nil:
			return f.faulty(err)
		default:
			s.rows++
			for i, c := range cells {
				s.columns[i].note(c, rules, declared[i], all.Line())
			}
		}
	}
	s.notes = all.Notes()
	if f.format.DecimalComma || f.format.DateFormat != "" || len(s.separator) > 1 {
		s.separator = "" // the engine reads neither
	}
	if now, err := os.Lstat(f.path); err != nil || !memo.SameVersion(f.info, now) {
		return nil, errors.Join(errChanged, err)
	}
	return s, nil
}

// faulty returns what an error makes of a scan: a fault of the file is what it says.
func (f *textFile) faulty(err error) (*fileScan, error) {
	s := &fileScan{}
	if errors.As(err, &s.fault) {
		return s, nil
	}
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &fileScan{fault: &textfile.Fault{File: f.shown, Problem: "the compressed file is damaged, or ends early"}}, nil
	}
	return nil, err
}

// formatKey returns a text that differs for different formats.
func formatKey(f textfile.Format) string { return fmt.Sprintf("%q", []any{f}) }
