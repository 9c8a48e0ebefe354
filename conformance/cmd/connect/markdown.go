package main

import (
	"html/template"
	"regexp"
	"strings"
)

// span is a piece of a paragraph that is not plain text: code, a bold or an emphasized text, or a link. What is
// emphasized begins and ends without a blank, because a star may stand for itself. The address of a link is https
// and holds no blank, quote or bracket.
var span = regexp.MustCompile("`([^`\n]+)`" + `|\*\*([^*\n]+)\*\*|\*([^*\s](?:[^*\n]*[^*\s])?)\*` +
	`|\[([^\]\n]+)\]\((https://[^\s()<>"'` + "`" + `]+)\)`)

// markdown returns the help of a credential field as HTML. It knows paragraphs, bold and emphasized text, code
// emphasis and links to https, and shows everything else as it was written: a connector's text brings no
// element and no address of another kind into the page.
func markdown(text string) template.HTML {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph == "" {
			continue
		}
		b.WriteString("<p>")
		at := 0
		for _, m := range span.FindAllStringSubmatchIndex(paragraph, -1) {
			b.WriteString(template.HTMLEscapeString(paragraph[at:m[0]]))
			group := func(n int) string { return template.HTMLEscapeString(paragraph[m[2*n]:m[2*n+1]]) }
			switch {
			case m[2] >= 0:
				b.WriteString("<code>" + group(1) + "</code>")
			case m[4] >= 0:
				b.WriteString("<strong>" + group(2) + "</strong>")
			case m[6] >= 0:
				b.WriteString("<em>" + group(3) + "</em>")
			default:
				b.WriteString(`<a href="` + group(5) + `" target="_blank" rel="noopener noreferrer">` + group(4) + "</a>")
			}
			at = m[1]
		}
		b.WriteString(template.HTMLEscapeString(paragraph[at:]) + "</p>")
	}
	return template.HTML(b.String()) // every piece is escaped above
}
