package textfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// separators are those that a header is searched for, the usual one first, and their
// names.
var separators = []struct {
	sign byte
	name string
}{{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {'|', "vertical bars"}}

// csvStart is what the beginning of a CSV file says.
type csvStart struct {
	separator rune
	text      *bufio.Reader // from the header on
	skipped   int           // lines before the header
	notes     []string
}

// findSeparator reads the header of a CSV file and returns by what its cells are
// separated: the stated separator; the one that a first line "sep=;" names, as Excel
// writes and reads it; or else the only one that the header has outside of quotes. It
// fails if that leaves a choice.
func findSeparator(file string, text *bufio.Reader, stated string) (csvStart, error) {
	s := csvStart{text: text}
	header := firstLine(text)
	blank := header[:len(header)-len(bytes.TrimLeft(header, "\r\n"))]
	line := 1 + bytes.Count(blank, []byte{'\n'})
	if sign, ok := statedSign(header); ok {
		if stated != "" && stated != sign {
			return s, &Fault{file, line, "names another separator than is stated; correct one of them"}
		}
		if problem := separatorProblem(sign); problem != "" {
			return s, &Fault{file, line, "names a separator that " + problem}
		}
		s.separator, s.skipped = firstRune(sign), line
		s.notes = append(s.notes, fmt.Sprintf("%s is read as separated by %q, as its first line says", file, sign))
		return s, nil
	}
	s.text = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(header), text), csvBuffer)
	found, names := separatorsOf(header)
	switch {
	case stated != "":
		s.separator = firstRune(stated)
		if found != "" && !outsideQuotes(header, stated) {
			return s, &Fault{file, line, fmt.Sprintf(
				"the header has %s, and none of the stated separator %q; state the separator of this file", names, stated)}
		}
	case len(found) > 1:
		return s, &Fault{file, line, fmt.Sprintf("the header has %s; state which is the separator, or quote the names that have another", names)}
	case found == "" || found == ",":
		s.separator = ','
	default:
		s.separator = rune(found[0])
		s.notes = append(s.notes, fmt.Sprintf("%s is read as separated by %s, which alone are in its header", file, names))
	}
	return s, nil
}

// statedSign returns the separator that a line sep=; states, in any case and quoted or
// not.
func statedSign(line []byte) (sign string, ok bool) {
	text := string(bytes.Trim(line, "\"\r\n"))
	const prefix = "sep="
	if len(text) <= len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return "", false
	}
	sign = text[len(prefix):]
	return sign, utf8.RuneCountInString(sign) == 1
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// firstLine reads the text up to the end of the first line that is not blank, which no
// line end in quotes is, or up to an error, which the next reader of the text meets
// again.
func firstLine(text *bufio.Reader) (line []byte) {
	quoted, blank := false, true
	for {
		b, err := text.ReadByte()
		if err != nil {
			return line
		}
		line = append(line, b)
		switch {
		case b == '"':
			quoted, blank = !quoted, false
		case b != '\n' && b != '\r':
			blank = false
		case quoted || blank:
		case b == '\n':
			return line
		default:
			if next, _ := text.Peek(1); len(next) == 0 || next[0] != '\n' {
				return line
			}
		}
	}
}

// separatorsOf returns the separators that a header has outside of quotes, and their
// names for a message.
func separatorsOf(header []byte) (found, names string) {
	for _, s := range separators {
		if outsideQuotes(header, string(s.sign)) {
			if found != "" {
				names += " and "
			}
			found += string(s.sign)
			names += s.name
		}
	}
	return found, names
}

// outsideQuotes reports whether a header has a sign outside of quotes.
func outsideQuotes(header []byte, sign string) bool {
	for i, part := range bytes.Split(header, []byte{'"'}) {
		if i%2 == 0 && bytes.Contains(part, []byte(sign)) {
			return true
		}
	}
	return false
}
