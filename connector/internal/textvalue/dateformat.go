package textvalue

import "strings"

// DateFormat says how dates are written, such as DD.MM.YYYY: DD and MM are two digits,
// D and M one or two, YYYY is four. What stands between them stands for itself. Empty:
// no dates but those of ISO 8601 are.
type DateFormat string

// dateParts are the parts of a date: how many digits each has at least and at most, and
// which of the day, the month and the year it is. Longer names come first.
var dateParts = []struct {
	name        string
	least, most int
	of          int
}{
	{"YYYY", 4, 4, year}, {"MM", 2, 2, month}, {"DD", 2, 2, day}, {"M", 1, 2, month}, {"D", 1, 2, day},
}

const (
	day = iota
	month
	year
)

// Valid reports whether the format has a day, a month and a year once, no two of them
// side by side, and is not taken for a date of ISO 8601 with other parts.
func (f DateFormat) Valid() bool {
	var seen [3]bool
	adjacent := false
	for rest := string(f); rest != ""; {
		at := partAt(rest)
		if at < 0 {
			if c := rest[0] | 0x20; c >= 'a' && c <= 'z' || rest[0]-'0' <= 9 {
				return false
			}
			rest, adjacent = rest[1:], false
			continue
		}
		part := dateParts[at]
		if seen[part.of] || adjacent {
			return false
		}
		rest, seen[part.of], adjacent = rest[len(part.name):], true, true
	}
	const other = "2001-02-03"
	read, ok := f.iso(other)
	return seen == [3]bool{true, true, true} && (!ok || read == other)
}

// partAt returns which part a format begins with, or -1.
func partAt(format string) int {
	for i, part := range dateParts {
		if strings.HasPrefix(format, part.name) {
			return i
		}
	}
	return -1
}

// iso returns a text that begins with a date of the format, with that date as ISO 8601
// spells it. It reports false for any other text.
func (f DateFormat) iso(text string) (string, bool) {
	var parts [3]string
	format := string(f)
	for format != "" {
		at := partAt(format)
		if at < 0 {
			if text == "" || text[0] != format[0] {
				return "", false
			}
			format, text = format[1:], text[1:]
			continue
		}
		part := dateParts[at]
		n := min(digits(text), part.most)
		if n < part.least {
			return "", false
		}
		format, parts[part.of], text = format[len(part.name):], text[:n], text[n:]
	}
	if digits(text) > 0 {
		return "", false // of a longer number
	}
	return parts[year] + "-" + twoDigits(parts[month]) + "-" + twoDigits(parts[day]) + text, true
}

func twoDigits(text string) string {
	if len(text) == 1 {
		return "0" + text
	}
	return text
}
