package platform

import (
	"bufio"
	"io"
	"iter"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// writeBuffer is the size of the buffer that lines pass.
const writeBuffer = 64 << 10

// WriteCSV writes rows, such as [Rows.All] or [Answer.All], as CSV in UTF-8. The first line has
// the names of the columns; where columns is nil, it is left out. Lines end with \n.
//
// Each cell is written as it crossed the wire: a decimal, a date or a datetime keeps its
// spelling. A null is an empty field, and an empty text is "" in quotes. A null that is the
// only field of its row is therefore an empty line, which some readers skip.
//
// A text that begins with =, +, - or @ stays as it is, because it is data. A spreadsheet may
// take it for a formula when it opens the file: import such a column as text.
//
// An error of rows ends the writing, and so does one of w. What came before it is written.
// Rows pass a buffer; if w is a [*bufio.Writer] of 64 KiB or more, that is the buffer, and
// the sequence of rows may flush it between two of them.
func WriteCSV(w io.Writer, columns []wire.Column, rows iter.Seq2[[]wire.Value, error]) error {
	var header []byte
	for i, c := range columns {
		header = appendField(comma(header, i), c.Name)
	}
	if columns != nil {
		header = append(header, '\n')
	}
	return writeLines(w, header, rows, func(line []byte, row []wire.Value) ([]byte, error) {
		for i, v := range row {
			line = comma(line, i)
			switch v.Kind() {
			case wire.KindNull:
			case wire.KindText:
				line = appendField(line, v.Text())
			default:
				if err := v.Err(); err != nil {
					return nil, err
				}
				line = relation.AppendText(line, v) // which has no letters to quote
			}
		}
		return line, nil
	})
}

// WriteNDJSON writes rows as WriteCSV does, each as a JSON object on a line of its own. Cells
// are spelled as in an answer: a decimal is a string of its digits, and a null is null.
func WriteNDJSON(w io.Writer, columns []wire.Column, rows iter.Seq2[[]wire.Value, error]) error {
	var names [][]byte // as JSON, with what stands around them
	for i, c := range columns {
		name, err := wire.Text(c.Name).AppendJSON(comma(nil, i))
		if err != nil {
			return err
		}
		names = append(names, append(name, ':'))
	}
	return writeLines(w, nil, rows, func(line []byte, row []wire.Value) (_ []byte, err error) {
		line = append(line, '{')
		for i, v := range row {
			if line, err = v.AppendJSON(append(line, names[i]...)); err != nil {
				return nil, err
			}
		}
		return append(line, '}'), nil
	})
}

// writeLines writes a header, and then a line for each row.
func writeLines(
	w io.Writer, header []byte, rows iter.Seq2[[]wire.Value, error], format func(line []byte, row []wire.Value) ([]byte, error),
) error {
	buffer := bufio.NewWriterSize(w, writeBuffer)
	_, err := buffer.Write(header)
	line := header
	if err == nil {
		for row, broken := range rows {
			if err = broken; err != nil {
				break
			}
			if line, err = format(line[:0], row); err != nil {
				break
			}
			line = append(line, '\n')
			if _, err = buffer.Write(line); err != nil {
				break
			}
		}
	}
	if flushed := buffer.Flush(); err == nil {
		err = flushed
	}
	return err
}

// comma appends a comma before each field but the first.
func comma(line []byte, i int) []byte {
	if i > 0 {
		line = append(line, ',')
	}
	return line
}

// appendField appends a text that is not null to a line of CSV, in quotes if it is empty or
// readers could take it for something else. \. ends the data for some of them.
func appendField(line []byte, text string) []byte {
	if text != "" && text != `\.` && !strings.ContainsAny(text, "\",\r\n") && text[0] != ' ' && text[0] != '\t' {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}
