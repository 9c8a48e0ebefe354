// Package rules looks up the rules of docs/protocol.md, so that programs quote
// the rulebook and need not repeat it.
package rules

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/docs"
)

// Status says what authority a rule has.
type Status int

const (
	// Binds marks what the protocol demands, or how the platform is known to
	// behave.
	Binds Status = iota + 1
	// BindsPlatform marks what the platform does and a connector can rely on.
	BindsPlatform
	// Decision marks what this library decided where the protocol leaves a
	// point open. A connector built without the library may differ.
	Decision
)

// markers are the words that open the text of a rule, by status.
var markers = map[Status]string{
	Binds:         "Binds.",
	BindsPlatform: "Binds the platform.",
	Decision:      "Our decision.",
}

// String returns the words that mark the status in the rulebook, without the
// full stop.
func (s Status) String() string {
	return strings.TrimSuffix(markers[s], ".")
}

// Rule is one numbered rule of the rulebook.
type Rule struct {
	ID      string // such as "filter-6"
	Section string // title of the section, such as "Filters"
	Status  Status
	Text    string // Markdown, on one line, without the status
	Example string // Markdown, on one line, or empty
}

// All returns the rules in the order of the rulebook. The caller must not
// change the slice.
func All() []Rule {
	return book().rules
}

// Lookup returns the rule with that id, and reports whether there is one.
func Lookup(id string) (Rule, bool) {
	b := book()
	i, ok := b.byID[id]
	if !ok {
		return Rule{}, false
	}
	return b.rules[i], true
}

type parsed struct {
	rules []Rule
	byID  map[string]int
}

// book parses the embedded rulebook on first use. A faulty rulebook panics;
// the tests of this package prevent that.
var book = sync.OnceValue(func() parsed {
	list, err := parse(docs.Protocol)
	if err != nil {
		panic("docs/protocol.md: " + err.Error())
	}
	b := parsed{rules: list, byID: make(map[string]int, len(list))}
	for i, r := range list {
		b.byID[r.ID] = i
	}
	return b
})

// idForm is the form of a rule's id: the name of a section, a number, and a
// letter if the rule belongs to another one.
var idForm = regexp.MustCompile(`^[a-z]+-[1-9][0-9]*[a-z]?$`)

// parse reads the rules from Markdown. A rule is a heading of level 3 with its id,
// then a paragraph that opens with the status in bold. A paragraph that opens with
// "Example:" may follow.
func parse(text string) ([]Rule, error) {
	var (
		list    []Rule
		section string
		seen    = map[string]bool{}
		target  *string // where the current paragraph goes
	)
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if id, ok := strings.CutPrefix(line, "### "); ok {
			if !idForm.MatchString(id) || seen[id] {
				return nil, fmt.Errorf("line %d: %q is not an id, or is repeated", n+1, id)
			}
			seen[id] = true
			list = append(list, Rule{ID: id, Section: section})
			target = &list[len(list)-1].Text
			continue
		}
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section, target = title, nil
			continue
		}
		if target == nil || line == "" {
			continue
		}
		if example, ok := strings.CutPrefix(line, "Example: "); ok {
			target = &list[len(list)-1].Example
			line = example
		}
		if *target != "" {
			line = *target + " " + line
		}
		*target = line
	}
	for i := range list {
		if err := list[i].cutStatus(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// cutStatus moves the status from the beginning of the text to its field.
func (r *Rule) cutStatus() error {
	for status, words := range markers {
		if text, ok := strings.CutPrefix(r.Text, "**"+words+"** "); ok {
			r.Status, r.Text = status, text
			return nil
		}
	}
	return fmt.Errorf("rule %s does not open with its status", r.ID)
}
