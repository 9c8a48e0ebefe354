package restsource

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

// maxDecoded limits what a compressed answer becomes, in bytes.
const maxDecoded = 128 << 20

// DecodeGzip returns a Table.Unwrap for an answer that is a gzip file, whatever its
// headers say. next decodes what is in it; nil is for JSON. An answer that is not
// compressed, because somebody on the way has unpacked it, goes to next as it is.
func DecodeGzip(next func(body []byte) ([]byte, error)) func(body []byte) ([]byte, error) {
	return func(body []byte) ([]byte, error) {
		if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
			r, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return nil, err
			}
			if body, err = inflate(r, maxDecoded); err != nil {
				return nil, err
			}
		}
		return decoded(body, next)
	}
}

// DecodeZip returns a Table.Unwrap for an answer that is a zip file. next decodes each
// file in it; nil is for JSON. Several files must each have a list of rows.
func DecodeZip(next func(body []byte) ([]byte, error)) func(body []byte) ([]byte, error) {
	return func(body []byte) ([]byte, error) {
		archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			return nil, err
		}
		var files [][]byte
		left := maxDecoded
		for _, f := range archive.File {
			if f.FileInfo().IsDir() {
				continue
			}
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			text, err := inflate(r, left)
			left -= len(text)
			if err == nil {
				text, err = decoded(text, next)
			}
			if err != nil {
				return nil, err
			}
			files = append(files, bytes.TrimSpace(text))
		}
		if len(files) == 1 {
			return files[0], nil
		}
		for i, list := range files {
			if !bytes.HasPrefix(list, []byte("[")) || !bytes.HasSuffix(list, []byte("]")) {
				return nil, errors.New("there are several files in the archive, and one is no list of rows")
			}
			files[i] = bytes.TrimSpace(list[1 : len(list)-1])
		}
		return listOf(files)
	}
}

// inflate reads a compressed file of at most so many bytes.
func inflate(r io.ReadCloser, most int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("what is compressed is larger than %d bytes", maxDecoded)
	}
	return text, errors.Join(err, r.Close())
}

func decoded(body []byte, next func([]byte) ([]byte, error)) ([]byte, error) {
	if next == nil {
		return body, nil
	}
	return next(body)
}

// listOf returns a JSON list of texts of JSON values, of which empty ones are skipped.
func listOf(values [][]byte) ([]byte, error) {
	if len(values) == 0 {
		return nil, errors.New("there is no file in the archive")
	}
	values = slices.DeleteFunc(values, func(v []byte) bool { return len(v) == 0 })
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]")), nil
}

var byteOrderMark = []byte("\uFEFF")

// DecodeNDJSON turns an answer of one JSON row a line into a JSON list. Use it as
// Table.Unwrap, with Rows empty.
func DecodeNDJSON(body []byte) ([]byte, error) {
	lines := bytes.Split(bytes.TrimPrefix(body, byteOrderMark), []byte("\n"))
	for i, line := range lines {
		lines[i] = bytes.TrimSpace(line)
	}
	return listOf(lines)
}

// DecodeCSV returns a Table.Unwrap for an answer that is CSV with a header. The members
// of a row have the names of the header; an empty cell is null. Blank lines are skipped;
// where there is one column they are refused, because they could be rows. Rows is empty
// then. State columns that the header always has: a message that comes in the place of rows
// is then no empty table.
func DecodeCSV(comma rune, name string, more ...string) func(body []byte) ([]byte, error) {
	return func(body []byte) ([]byte, error) {
		r := csv.NewReader(bytes.NewReader(quotedLineEnds(bytes.TrimPrefix(body, byteOrderMark))))
		r.Comma = comma
		header, err := r.Read()
		if err != nil {
			return nil, fmt.Errorf("there is no header: %w", err)
		}
		for _, must := range append([]string{name}, more...) {
			if !slices.Contains(header, must) {
				return nil, fmt.Errorf("the header has no column %q", must)
			}
		}
		names := make([][]byte, len(header))
		for i, name := range header {
			if slices.Contains(header[:i], name) {
				return nil, errors.New("two columns of the header have one name")
			}
			if names[i], err = jsontext.AppendString(nil, name); err != nil {
				return nil, err
			}
		}
		out := []byte("[")
		last, _ := r.FieldPos(0)
		last += strings.Count(header[0], "\n") // the line on which the record ends
		for {
			offset := r.InputOffset()
			record, err := r.Read()
			line := last + 1
			if err == nil {
				line, _ = r.FieldPos(0)
			}
			if len(header) == 1 && (line > last+1 || errors.Is(err, io.EOF) && r.InputOffset() > offset) {
				return nil, fmt.Errorf("line %d is blank, and where there is one column it could be a row; quotes make it one", last+1)
			}
			if errors.Is(err, io.EOF) {
				return append(bytes.TrimSuffix(out, []byte(",")), ']'), nil
			}
			if err != nil {
				return nil, err
			}
			last = line + strings.Count(record[0], "\n")
			before := byte('{')
			for i, text := range record {
				out = append(append(append(out, before), names[i]...), ':')
				if before = ','; text == "" {
					out = append(out, "null"...)
				} else if out, err = jsontext.AppendString(out, text); err != nil {
					return nil, err
				}
			}
			out = append(out, '}', ',')
		}
	}
}

// quotedLineEnds returns CSV with one more CR before each CR LF in quotes, because
// encoding/csv drops one there. Every quote opens or closes a cell or a part of it. The
// reader of files does so for a stream, and refuses text that APIs may send.
func quotedLineEnds(text []byte) []byte {
	if !bytes.Contains(text, []byte("\r\n")) {
		return text
	}
	out := make([]byte, 0, len(text))
	quoted := false
	for i, c := range text {
		quoted = quoted != (c == '"')
		if out = append(out, c); quoted && bytes.HasPrefix(text[i:], []byte("\r\n")) {
			out = append(out, c)
		}
	}
	return out
}

// DecodeKeyed returns a Table.Unwrap for an answer that has an object in place of the list
// of rows, whose keys are ids. rows is the member path of the object, as Table.Rows is
// then, and key the name of a member that is added to each row and has the id. A value
// that is no object becomes the member "value". A text or an object named error or errors
// that is alone is a failure.
func DecodeKeyed(rows, key string) func(body []byte) ([]byte, error) {
	return replaced(rows, func(r textvalue.Raw, _ []byte) (any, error) {
		if r.Kind == textvalue.Array && tellsNothing(r) {
			return []any{}, nil // as PHP writes an object without members
		}
		var values map[string]json.RawMessage
		if json.Unmarshal([]byte(r.Text), &values) != nil {
			return nil, errors.New("there is no object whose keys are ids")
		}
		list := []map[string]json.RawMessage{}
		for _, id := range slices.Sorted(maps.Keys(values)) {
			var row map[string]json.RawMessage
			isRow := json.Unmarshal(values[id], &row) == nil && row != nil
			if (id == "error" || id == "errors") && len(values) == 1 && (isRow || values[id][0] == '"') {
				return nil, fmt.Errorf("the member %q seems to tell of a failure and not of a row", id)
			}
			if !isRow {
				row = map[string]json.RawMessage{"value": values[id]}
			}
			if row[key] != nil {
				return nil, fmt.Errorf("a row has a member %q already", key)
			}
			row[key], _ = json.Marshal(id) // a text has a spelling
			list = append(list, row)
		}
		return list, nil
	})
}

// DecodeColumns returns a Table.Unwrap for an answer that has the names of the columns
// apart from the rows. rows is the member path of the rows, as Table.Rows is then. names is
// that of the list of names, such as "columns", or of the name in a list of objects, such
// as "schema.name"; each row is a list of values. If names is empty, the value at rows is
// an object that has a list of values for each column.
func DecodeColumns(rows, names string) func(body []byte) ([]byte, error) {
	return replaced(rows, func(r textvalue.Raw, body []byte) (any, error) {
		uneven := errors.New("there are no lists of values that are as long as each other")
		list := []map[string]json.RawMessage{}
		if names == "" {
			var columns map[string][]json.RawMessage
			if json.Unmarshal([]byte(r.Text), &columns) != nil {
				return nil, uneven
			}
			for name, values := range columns {
				for i, v := range values {
					if len(list) == i {
						list = append(list, map[string]json.RawMessage{})
					}
					list[i][name] = v
				}
			}
			for _, values := range columns {
				if len(values) != len(list) {
					return nil, uneven
				}
			}
			return list, nil
		}
		var values [][]json.RawMessage
		columns := namesAt(names, body)
		if json.Unmarshal([]byte(r.Text), &values) != nil {
			return nil, uneven
		}
		for _, cells := range values {
			row := map[string]json.RawMessage{}
			if len(cells) != len(columns) {
				return nil, uneven
			}
			for i, name := range columns {
				row[name] = cells[i]
			}
			if list = append(list, row); len(row) != len(columns) {
				return nil, errors.New("two columns have one name")
			}
		}
		return list, nil
	})
}

// namesAt returns the names of columns in an answer.
func namesAt(path string, body []byte) (names []string) {
	full := splitPath(path)
	last := len(full) - 1
	found, _ := newPicker(full, full[:last]).parse(string(body), 2) // it was parsed before
	if json.Unmarshal([]byte(found[0].Text), &names) == nil {
		return names
	}
	var objects []map[string]any
	_ = json.Unmarshal([]byte(found[1].Text), &objects)
	for _, o := range objects {
		name, _ := o[full[last]].(string)
		names = append(names, name)
	}
	return names
}

// replaced returns a Table.Unwrap that replaces the value at a member path, unless that is
// null or not there.
func replaced(path string, change func(r textvalue.Raw, body []byte) (any, error)) func(body []byte) ([]byte, error) {
	names := splitPath(path)
	return func(body []byte) ([]byte, error) {
		var found textvalue.Raw
		var from, to int
		s := textvalue.Reader{MaxDepth: maxNesting}
		s.Reset(string(body))
		var walk func(depth int)
		walk = func(depth int) {
			switch c := s.Peek(); {
			case depth > len(names):
				from = s.Offset()
				found = s.Value(depth)
				to = s.Offset()
			case c == '{':
				s.Object(depth, func(name string) {
					if name == names[depth-1] {
						walk(depth + 1)
					} else {
						s.Value(depth + 1)
					}
				})
			default:
				s.Value(depth)
			}
		}
		walk(1)
		if s.End(); s.Err() != nil || found.None() {
			return body, s.Err()
		}
		rows, err := change(found, body)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(rows)
		return slices.Concat(body[:from], text, body[to:]), err
	}
}
