package message

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestAnswers compares answers with their schema: what is refused, and what is
// only unusual.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		m            wire.Answer
		body         string
		fault        string // a part of it; "" when the answer obeys
		unknown      string // the place of a member that the protocol does not name
		why          string
	}{
		{"a count", "count-answer", new(wire.CountAnswer), `{"count":3}`, "", "", "the usual answer"},
		{"blanks", "count-answer", new(wire.CountAnswer), " {\n\"count\" : 3e0 } \n", "", "", "integers are judged by value"},
		{"a further member", "count-answer", new(wire.CountAnswer), `{"count":3,"took":{"ms":1}}`, "", `"took"`, "the text does not forbid it"},
		{"a further member deep down", "discovery-answer", new(wire.Discovery),
			`{"tables":[{"name":"t","sourceDescription":"","storesRows":true,"primaryKey":[],"foreignKeys":[],"fields":[{"name":"f","colour":1,"sourceColumn":"f","type":"string","nullable":true,"unique":false,"samples":[],"sourceDescription":""}]}]}`,
			"", `tables[0].fields[0]."colour"`, "the text does not forbid it"},
		{"a further member of the envelope", "error", new(wire.ErrorAnswer),
			`{"error":{"code":"internal","message":"m","trace":1}}`, "", `error."trace"`, "the text does not forbid it"},
		{"columns are no further members", "cardinality-answer", new(wire.CardinalityAnswer),
			`{"columns":{"x":{"nonNull":1,"distinct":1,"nulls":0},"y":null}}`, "", `columns.x."nulls"`, "column names are the data's"},

		{"a case variant", "count-answer", new(wire.CountAnswer), `{"Count":3}`, "count", `"Count"`, "names are exact"},
		{"text", "count-answer", new(wire.CountAnswer), `{"count":"3"}`, "count", "", "integer"},
		{"a fraction", "count-answer", new(wire.CountAnswer), `{"count":1.5}`, "count", "", "integer"},
		{"negative", "count-answer", new(wire.CountAnswer), `{"count":-1}`, "count", "", "a count"},
		{"twice", "count-answer", new(wire.CountAnswer), `{"count":3,"count":4}`, "count", "", "of two values one is wrong"},
		{"twice beside a further member", "count-answer", new(wire.CountAnswer), `{"count":3,"took":1,"count":4}`,
			"duplicate", `"took"`, "of two values one is wrong"},
		{"twice within a further member", "count-answer", new(wire.CountAnswer), `{"count":3,"took":{"a":1,"a":2}}`,
			"duplicate", `"took"`, "no JSON that every reader reads alike"},
		{"a bare array", "aggregate-answer", new(wire.AggregateAnswer), `[{"n":1}]`, "object", "", "every JSON answer is a wrapped object"},
		{"a nested cell", "aggregate-answer", new(wire.AggregateAnswer), `{"rows":[{"n":[1]}]}`, "rows", "", "cells are scalars"},
		{"two values", "count-answer", new(wire.CountAnswer), `{"count":3}{"count":3}`, "not JSON", "", "one JSON value"},
		{"nothing", "count-answer", new(wire.CountAnswer), " ", "empty", "", "a JSON object"},
		{"HTML", "count-answer", new(wire.CountAnswer), "<html>", "not JSON", "", "a JSON object"},
		{"bad UTF-8", "error", new(wire.ErrorAnswer), "{\"error\":{\"code\":\"internal\",\"message\":\"\xff\"}}", "UTF-8", "", "JSON is UTF-8"},
		{"deep", "count-answer", new(wire.CountAnswer),
			`{"count":3,"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}", "JSON", `"x"`,
			"no depth overflows the judge"},
		{"as deep as a client reads", "count-answer", new(wire.CountAnswer),
			`{"count":3,"x":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + "}", "", `"x"`, "32 deep with the object"},
		{"one deeper", "count-answer", new(wire.CountAnswer),
			`{"count":3,"x":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + "}", "JSON", `"x"`, "33 deep"},
		{"the document's top level", "document", new(wire.Document),
			`{"protocolVersion":1,"slug":"shop","capabilities":{"operators":[],"dateBucket":false,"sort":"none","offset":false,"join":false,"keysEnforced":false,"limits":{}},"credentialSchema":[{"key":"k","label":"l","type":"text"}],"endpoints":[],"x":1}`, "", "", "the reader strips them"},
		{"the document's inside", "document", new(wire.Document),
			`{"protocolVersion":1,"slug":"shop","capabilities":{"operators":[],"dateBucket":false,"sort":"none","offset":false,"join":false,"keysEnforced":false,"limits":{"x":1}},"credentialSchema":[],"endpoints":[]}`, "", `capabilities.limits."x"`, "the text does not forbid it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Check([]byte(c.body), c.schema, c.m)
			if c.fault == "" {
				require.Nil(t, f, "%s: %+v", c.why, f)
			} else {
				require.NotNil(t, f, c.why)
				require.Contains(t, f.Detail, c.fault)
				require.Less(t, len(f.Detail+f.Received), 700)
			}
			require.Equal(t, c.unknown, Unknown(c.schema, []byte(c.body)))
			err := wire.DecodeAnswer([]byte(c.body), c.m)
			require.Equal(t, c.fault == "", err == nil, "a client and the judge differ: %v", err)
		})
	}
}
