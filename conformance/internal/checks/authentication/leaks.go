package authentication

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// refusalsLeak asks without the token about a table that exists and about one that does not. The refusals must not
// differ, and must not name other tables. Whether a 401 holds the token or a credential is watched.
func refusalsLeak(run *session.Run) *check.Finding {
	tables := run.SmallestFirst()
	topic := run.Topic()
	for _, path := range run.Document.Paths(true) {
		known, f := refusalAbout(run, path, topic)
		if f != nil || run.Spent(1) {
			return f
		}
		if names := tablesIn(known.Body, tables, topic.Name); names != "" {
			run.Watched("P1.4", check.Differs("", known.Describe(),
				"%s tells a caller without the token of %s", path, names).From(known.Request))
		}
		if topic.Table == nil {
			continue
		}
		differs, f := tellsTables(run, path, topic, known)
		if f != nil {
			return f
		}
		if differs != nil {
			run.Watched("P1.4", differs)
		}
	}
	return nil
}

func refusalAbout(run *session.Run, path string, about payload.Topic) (*session.Answer, *check.Finding) {
	a := post(run, path, run.Legal(path, about).Text())
	f := wants401(a, "%s with no token", path)
	if f != nil && a.Err == nil {
		f = check.Block("P1.1", "%s is answered without a token", path)
	}
	return a, f
}

// tellsTables returns what is wrong if the refusal for a table that exists, such as known,
// differs from that for a missing table in more than the name.
func tellsTables(run *session.Run, path string, topic payload.Topic, known *session.Answer) (differs, f *check.Finding) {
	unused := payload.Topic{Name: payload.UnusedTable, Field: topic.Field}
	// A name that nobody has occurs in no text by chance, unlike that of the table.
	echoed := func(a *session.Answer) string { return strings.ReplaceAll(string(a.Body), unused.Name, topic.Name) }
	unknown, f := refusalAbout(run, path, unused)
	if f != nil || string(known.Body) == string(unknown.Body) || string(known.Body) == echoed(unknown) {
		return nil, f
	}
	// Every refusal may differ from the one before, by a number of the request or the time.
	knownAgain, f := refusalAbout(run, path, topic)
	if f != nil {
		return nil, f
	}
	unknownAgain, f := refusalAbout(run, path, unused)
	if f != nil || string(known.Body) != string(knownAgain.Body) || string(unknown.Body) != string(unknownAgain.Body) {
		return nil, f
	}
	return check.Differs("the same 401 for a table that exists and for one that does not",
		message.Excerpt(known.Body, 120)+" and "+message.Excerpt(unknown.Body, 120),
		"%s tells a caller without the token whether a table exists", path).From(known.Request), nil
}

// refusalWords are words of which the text of an honest 401 is made.
var refusalWords = strings.Fields("a access an and api are auth authentication authorization authorized authorised bearer call " +
	"caller code connector credentials denied error expected for forbidden found given has have " +
	"header host http in invalid is key login message method missing must needed no not of on only or " +
	"please provide provided reason refused rejected request requests required route scheme send " +
	"service status t the this to token type unauthenticated unauthorised unauthorized url user users " +
	"valid value was with without wrong you your")

// tablesIn returns the names of tables that a refusal reveals, except the one asked
// for. A single ordinary word may occur by chance.
func tablesIn(body []byte, tables []*wire.Table, asked string) string {
	text := string(body)
	var envelope wire.ErrorAnswer
	if json.Unmarshal(body, &envelope) == nil && envelope.Error.Message != "" {
		text = envelope.Error.Message // not the names of the members
	}
	var names []string
	for _, t := range tables {
		if t.Name != asked && !slices.Contains(refusalWords, strings.ToLower(t.Name)) {
			names = append(names, t.Name)
		}
	}
	if told := phrase.Mentioned(text, "_-.", names); told != "" {
		return "the tables " + told
	}
	return ""
}
