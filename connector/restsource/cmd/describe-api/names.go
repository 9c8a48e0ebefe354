package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// words returns a name in lower case with underscores between its words: orderItems,
// order-items and OrderItems are all order_items. Other signs than letters and digits
// separate words.
func words(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '_'
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) ||
			unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '_' }), "_")
}

// letters returns a name in lower case without anything but letters and digits, so that
// pageToken, page_token and page[token] are the same.
func letters(name string) string { return strings.ReplaceAll(words(name), "_", "") }

// singular returns the last word of a name in the singular, as far as spelling tells.
func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies") && len(name) > 4:
		return name[:len(name)-3] + "y"
	case strings.HasSuffix(name, "sses"), strings.HasSuffix(name, "xes"), strings.HasSuffix(name, "ches"), strings.HasSuffix(name, "shes"):
		return name[:len(name)-2]
	case strings.HasSuffix(name, "ss"), strings.HasSuffix(name, "us"), strings.HasSuffix(name, "is"):
		return name
	}
	return strings.TrimSuffix(name, "s")
}

var (
	placeholder = regexp.MustCompile(`\{([^{}]*)\}`)
	// noise is a segment of a path that says nothing about rows.
	noise = regexp.MustCompile(`^(?i)(v?[0-9]+([._][0-9]+)*((alpha|beta|rc)[0-9]*)?|v[0-9]+.*|api|rest|-)$`)
)

// segments returns the segments of a path.
func segments(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// isParam reports whether a segment is one placeholder, and returns its name.
func isParam(segment string) (name string, ok bool) {
	match := placeholder.FindStringSubmatch(segment)
	if match == nil || match[0] != segment {
		return "", false
	}
	return match[1], true
}

// pattern returns a path without the names of its placeholders.
func pattern(path string) string {
	return placeholder.ReplaceAllString(strings.TrimRight(path, "/"), "{}")
}

// namer gives each table a name of its own.
type namer struct{ taken map[string]bool }

// table names the table of a path: by its last segment that is no placeholder, and by
// more of them, from right to left, while another table has the name. A child table
// begins with its parent's name.
func (n *namer) table(path, parent string) string {
	var parts []string
	for _, segment := range segments(path) {
		segment = words(placeholder.ReplaceAllString(strings.TrimSuffix(segment, ".json"), ""))
		if segment != "" && !noise.MatchString(segment) {
			parts = append(parts, segment)
		}
	}
	if len(parts) == 0 {
		parts = []string{"rows"}
	}
	names := []string{}
	if parent != "" {
		names = append(names, singular(parent)+"_"+parts[len(parts)-1])
	}
	for i := len(parts) - 1; i >= 0; i-- {
		names = append(names, strings.Join(parts[i:], "_"))
	}
	if parent != "" && len(names) > 2 {
		names = append(names[:1], names[2:]...) // its own last word alone would hide whose it is
	}
	return n.take(names...)
}

// take returns the first of the names that is free, or the last one with a number.
func (n *namer) take(names ...string) string {
	last := names[len(names)-1]
	for i := 2; ; i++ {
		for _, name := range names {
			if !n.taken[name] {
				n.taken[name] = true
				return name
			}
		}
		names = []string{fmt.Sprintf("%s_%d", last, i)}
	}
}

// sign reports whether a name, without case and separators, is one of a list.
func sign(name string, list ...string) bool { return slices.Contains(list, letters(name)) }

// slug returns a slug of 3 to 40 signs.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case !unicode.IsLetter(r) && b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	text := strings.TrimLeft(b.String(), "-0123456789")
	text = strings.Trim(text[:min(len(text), 40)], "-")
	for _, end := range []string{"-rest-api", "-api"} {
		if short := strings.TrimSuffix(text, end); len(short) >= 3 {
			text = short
		}
	}
	if len(text) < 3 {
		return "my-api"
	}
	return text
}

// memberPath joins the names of members to a path of package restsource.
func memberPath(names ...string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = strings.ReplaceAll(name, ".", `\.`)
	}
	return strings.Join(escaped, ".")
}
