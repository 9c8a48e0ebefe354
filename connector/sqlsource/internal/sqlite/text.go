package sqlite

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// text completes a column of text, or of blobs.
func (s *columnBuilder) text() {
	ref := s.ref
	if s.holdsBlobs() {
		s.bytes()
		return
	}
	bare := ref + " COLLATE BINARY"
	s.Valid, s.Invalid = ref+noBlob, "a blob in a column of texts"
	s.Index.Sorted, s.Index.Within = bare, s.Valid
	s.Index.Plain, s.Index.PlainKind = bare, "text"
	switch {
	case s.affinity == "TEXT" && s.note.strict:
		s.Raw, s.Key = bare, bare
		s.Valid, s.Index.Within, s.Tie = "", "", ""
	case s.affinity == "TEXT" && !s.note.view:
		s.Raw = bare
		s.Key = s.where(s.Valid) + " COLLATE BINARY"
	default: // numbers are texts here, too
		s.Raw = "CAST(" + s.where(s.Valid) + " AS TEXT) COLLATE BINARY"
		s.Key = s.Raw
		s.Index.Unsorted = ref + isNumeric
		s.Loose.Guard = "typeof(" + ref + ") = 'real'" // its digits are not those that SQLite would spell
		s.Index.Near = s.nearText
	}
	s.Class, s.Text = sqlengine.ClassText, s.Key
	if s.note.utf16 {
		s.Class, s.Key, s.Text = sqlengine.ClassOpaque, "", ""
		s.Group = s.where(cmp.Or(s.Valid, "1")) + " COLLATE BINARY"
		if s.Loose.Guard != "" {
			s.Group = ""
		}
		s.Raw, s.Loose.Guard, s.Index.Near = ref, "", nil
		s.Index.Sorted, s.Index.Within, s.Index.Unsorted, s.Index.Plain, s.Index.PlainKind = "", "", "", "", ""
	}
}

// holdsBlobs reports whether a column is one of blobs.
func (s *columnBuilder) holdsBlobs() bool {
	declared := strings.ToUpper(s.catalog.DataType)
	return s.note.seen == seenBlobs ||
		s.note.seen == "" && (strings.Contains(declared, "BLOB") || strings.Contains(declared, "BINARY"))
}

// bytes completes a column of blobs.
func (s *columnBuilder) bytes() {
	s.Decode = decodeBytes
	s.Valid, s.Invalid = s.ref+isBlob, "no blob in a column of blobs"
	s.Class = sqlengine.ClassBytes
	s.Group = s.where(s.Valid)
	if s.note.strict {
		s.Valid, s.Group = "", s.ref
	}
}

// nearText finds what a text is the spelling of: itself, an integer, a real.
func (s *columnBuilder) nearText(sign string, arg any, bind func(any) string) string {
	text, ok := arg.(string)
	if !s.catalog.Indexed || sign != "=" || !ok {
		return ""
	}
	list := []string{bind(text)}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		list = append(list, bind(n))
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && terms.IsDecimal(text) {
		list = append(list, bind(f))
	}
	return s.ref + " COLLATE BINARY IN (" + strings.Join(list, ", ") + ")"
}

// jsonText returns the condition that a text is JSON. For json_valid, a character 0 ends it.
func jsonText(expr string) string {
	return "json_valid(" + expr + ") AND instr(" + expr + ", char(0)) = 0"
}
