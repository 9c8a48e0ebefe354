package restsource

import (
	"errors"
	"net/http"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
)

// errLink says that a header Link cannot be read.
var errLink = errors.New("the header Link cannot be read, so it may hide the next page; " +
	`it must be spelled like <address>; rel="next"`)

// nextLink returns the target of the header Link with rel="next": null if there are other
// links only, and absent without links. Values may be quoted by single quotes too.
func nextLink(h http.Header) (found textvalue.Raw, err error) {
	rest := strings.Trim(strings.Join(h.Values("Link"), ","), ", \t")
	for rest != "" {
		target, params, ok := strings.Cut(rest, ">")
		if !ok || !strings.HasPrefix(target, "<") || strings.Contains(target[1:], "<") {
			return textvalue.Raw{}, errLink
		}
		if found.Kind == textvalue.Absent {
			found.Kind = textvalue.Null
		}
		related := false // the first rel of a link counts
		for rest = strings.TrimLeft(params, " \t"); strings.HasPrefix(rest, ";"); rest = strings.TrimLeft(rest, " \t") {
			var name, value string
			if name, value, rest, ok = linkParam(strings.TrimLeft(rest[1:], " \t")); !ok {
				return textvalue.Raw{}, errLink
			}
			if !strings.EqualFold(name, "rel") || related {
				continue
			}
			related = true
			for rel := range strings.FieldsSeq(value) {
				if strings.EqualFold(rel, "next") && found.Kind != textvalue.Text {
					found = textvalue.Raw{Text: strings.TrimSpace(target[1:]), Kind: textvalue.Text}
				}
			}
		}
		if rest != "" && rest[0] != ',' {
			return textvalue.Raw{}, errLink
		}
		rest = strings.TrimLeft(rest, ", \t")
	}
	return found, nil
}

// linkParam reads one parameter of a link, such as rel="next".
func linkParam(text string) (name, value, rest string, ok bool) {
	end := strings.IndexAny(text, "=;,")
	if end < 0 {
		return strings.TrimSpace(text), "", "", true
	}
	name, rest = strings.TrimSpace(text[:end]), text[end:]
	if rest[0] != '=' {
		return name, "", rest, true
	}
	rest = strings.TrimLeft(rest[1:], " \t")
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		end = strings.IndexAny(rest, ";,")
		if end < 0 {
			end = len(rest)
		}
		return name, strings.TrimSpace(rest[:end]), rest[end:], true
	}
	var quoted strings.Builder
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == rest[0]:
			return name, quoted.String(), strings.TrimLeft(rest[i+1:], " \t"), true
		case rest[i] == '\\' && i+1 < len(rest):
			i++
		}
		quoted.WriteByte(rest[i])
	}
	return name, "", "", false
}
