package conformance

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestAnswers holds answers against their schema: what is refused, and what is
// only unusual.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		m            wire.Message
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
		{"a further member of the envelope", "error", new(wire.ErrorAnswer), `{"error":{"code":"internal","message":"m","trace":1}}`, "", `error."trace"`, "the text does not forbid it"},
		{"columns are no further members", "cardinality-answer", new(wire.CardinalityAnswer), `{"columns":{"x":{"nonNull":1,"distinct":1,"nulls":0},"y":null}}`, "", `columns.x."nulls"`, "column names are the data's"},

		{"a case variant", "count-answer", new(wire.CountAnswer), `{"Count":3}`, "count", `"Count"`, "names are exact"},
		{"text", "count-answer", new(wire.CountAnswer), `{"count":"3"}`, "count", "", "integer"},
		{"a fraction", "count-answer", new(wire.CountAnswer), `{"count":1.5}`, "count", "", "integer"},
		{"negative", "count-answer", new(wire.CountAnswer), `{"count":-1}`, "count", "", "a count"},
		{"twice", "count-answer", new(wire.CountAnswer), `{"count":3,"count":4}`, "count", "", "of two values one is wrong"},
		{"twice beside a further member", "count-answer", new(wire.CountAnswer), `{"count":3,"took":1,"count":4}`, "twice", `"took"`, "of two values one is wrong"},
		{"twice within a further member", "count-answer", new(wire.CountAnswer), `{"count":3,"took":{"a":1,"a":2}}`, "twice", `"took"`, "no JSON that every reader reads alike"},
		{"a bare array", "aggregate-answer", new(wire.AggregateAnswer), `[{"n":1}]`, "object", "", "every JSON answer is a wrapped object"},
		{"a nested cell", "aggregate-answer", new(wire.AggregateAnswer), `{"rows":[{"n":[1]}]}`, "rows", "", "cells are scalars"},
		{"two values", "count-answer", new(wire.CountAnswer), `{"count":3}{"count":3}`, "not JSON", "", "one JSON value"},
		{"nothing", "count-answer", new(wire.CountAnswer), " ", "empty", "", "a JSON object"},
		{"HTML", "count-answer", new(wire.CountAnswer), "<html>", "not JSON", "", "a JSON object"},
		{"bad UTF-8", "error", new(wire.ErrorAnswer), "{\"error\":{\"code\":\"internal\",\"message\":\"\xff\"}}", "UTF-8", "", "JSON is UTF-8"},
		{"deep", "count-answer", new(wire.CountAnswer), `{"count":3,"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}", "JSON", `"x"`, "no depth overflows the judge"},
		{"the document's top level", "document", new(wire.Document), `{"protocolVersion":1,"slug":"shop","capabilities":{"operators":[],"dateBucket":false,"sort":"none","offset":false,"join":false,"keysEnforced":false,"limits":{}},"credentialSchema":[{"key":"k","label":"l","type":"text"}],"endpoints":[],"x":1}`, "", "", "the reader strips them"},
		{"the document's inside", "document", new(wire.Document), `{"protocolVersion":1,"slug":"shop","capabilities":{"operators":[],"dateBucket":false,"sort":"none","offset":false,"join":false,"keysEnforced":false,"limits":{"x":1}},"credentialSchema":[],"endpoints":[]}`, "capabilities.limits", `capabilities.limits."x"`, "refused below the top level (H3)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := checkMessage([]byte(c.body), c.schema, c.m)
			if c.fault == "" {
				require.Nil(t, f, "%s: %+v", c.why, f)
			} else {
				require.NotNil(t, f, c.why)
				require.Contains(t, f.detail, c.fault)
				require.Less(t, len(f.detail+f.received), 700)
			}
			require.Equal(t, c.unknown, unknownMember(c.schema, []byte(c.body)))
		})
	}
}

// TestPrivate are addresses that the platform's servers reach, and others.
func TestPrivate(t *testing.T) {
	for address, want := range map[string]bool{
		"10.0.0.1": true, "172.16.5.4": true, "192.168.1.1": true, "127.0.0.1": true, "169.254.169.254": true, "100.64.0.1": true, "0.0.0.0": true,
		"::1": true, "fe80::1": true, "fd00::1": true, "8.8.8.8": false, "172.32.0.1": false, "100.128.0.1": false, "2606:4700::1111": false,
	} {
		require.Equal(t, want, private(netip.MustParseAddr(address)), address)
	}
}

// TestTablesIn is what a refusal is taken to tell of the tables.
func TestTablesIn(t *testing.T) {
	tables := []*wire.Table{{Name: "error"}, {Name: "orders"}, {Name: "order_lines"}, {Name: "Kunden"}}
	for _, c := range []struct {
		body, asked string
		leaks       bool
		why         string
	}{
		{`{"error":{"code":"unauthorized","message":"no"}}`, "", false, "an ordinary word stands there by chance"},
		{`no token for orders`, "", false, "one ordinary word may"},
		{`no token for error and orders`, "", true, "two do not"},
		{`no token for order_lines`, "", true, "a name that is no ordinary word does not"},
		{`no token for reorder_lines`, "", false, "names are whole words"},
		{`"Kunden"`, "", true, "a name that is no ordinary word does not"},
		{`no token for order_lines`, "order_lines", false, "who asked for it knows it"},
	} {
		require.Equal(t, c.leaks, tablesIn([]byte(c.body), tables, c.asked) != "", "%s: %s", c.body, c.why)
	}
}

// TestSecretSpellings are the encodings in which a secret is looked for.
func TestSecretSpellings(t *testing.T) {
	secret := `p+ss/"w0rd" & more`
	all := spellings(secret)
	for _, text := range []string{
		`the password is p+ss/"w0rd" & more!`, `{"echo":"p+ss/\"w0rd\" & more"}`, "?pw=p%2Bss%2F%22w0rd%22+%26+more", "/p+ss%2F%22w0rd%22%20&%20more/",
		"702b73732f227730726422202620" + "6d6f7265", "Basic " + "cCtzcy8idzByZCIgJiBtb3Jl",
	} {
		found := false
		for _, s := range all {
			found = found || strings.Contains(text, string(s))
		}
		require.True(t, found, "%s in %q", text, all)
	}
}
