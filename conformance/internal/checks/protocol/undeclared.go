package protocol

import (
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/refusal"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// undeclaredChecks returns the checks about what the document does not declare: it is refused, or
// left to the platform, and never half done.
func undeclaredChecks() []session.Check {
	return []session.Check{
		{ID: "P3.8", Phase: 3, Rules: []string{"query-7"},
			Judge: refusal.Table{Declinable: true, Rows: []refusal.Row{{
				Paths: at(wire.PathQuery, wire.PathAggregate), Joins: "[" + hop + "]",
				What: "with a join, which the document does not declare,", Codes: undeclaredCodes,
			}}}.Judge,
			Needs: declared.Only(func(d *declared.Document) bool { return !d.Capabilities.Join }, "capabilities.join is true"),
			Title: "joins are refused when capabilities.join is false",
			Fix:   "Answer 422 unsupported to a request whose joins is not empty."},
		{ID: "P3.9", Phase: 3, Judge: refusal.Table{Rows: undeclaredGrains, About: dated, Declinable: true}.Judge,
			Rules: []string{"aggregate-4a", "error-7", "document-10"},
			Needs: declared.All(
				declared.Only(func(d *declared.Document) bool { return !d.Capabilities.DateBucket }, "capabilities.dateBucket is true"),
				declared.Needs(wire.PathAggregate)),
			Title: "grains are refused or declined when capabilities.dateBucket is false",
			Fix: "Answer 422 unsupported to a groupBy with a grain, or decline with 204: " +
				"groups of whole values under a period's name are wrong numbers."},
		{ID: "P3.13a", Phase: 3, Judge: windowsWhole,
			Rules: []string{"stream-2b", "document-11", "document-12", "query-8a"},
			Needs: declared.Only(func(d *declared.Document) bool {
				c := d.Capabilities
				return c.Sort != wire.SortMulti || !c.Offset || c.Limits.OffsetMax > 0
			}, "the document declares several sort keys and any offset"),
			Title: "an undeclared sort or offset is refused, or answered in full, never cut",
			Fix: "Apply limit and offset only when filters and sort are served; " +
				"otherwise stream all rows with served.window false."},
		{ID: "P3.13b", Phase: 3, Rules: []string{"query-13", "document-8"},
			Judge: refusal.Table{About: refusal.NoTable, Rows: []refusal.Row{{
				Paths: at(wire.PathQuery), Body: `{"sql":"SELECT 1","params":[],"credentials":%credentials,"timeoutMs":60000}`,
				What: "with sql, without a dialect,", Codes: badOrUnsupported,
			}}}.Judge,
			Needs: declared.Only(func(d *declared.Document) bool { return d.Dialect == "" }, "the document has a dialect"),
			Title: "compiled SQL is refused where the document has no dialect",
			Fix:   "Refuse a /query body that holds sql with 400 or 422."},
	}
}

var undeclaredGrains = check.Family(refusal.Row{Paths: at(wire.PathAggregate), Member: "groupBy", Codes: undeclaredCodes}, []refusal.Row{
	{JSON: `[{"field":%field,"as":"g","grain":"year"}]`, What: "by the grain year, which the document does not declare,"},
	{JSON: `[{"field":%field,"as":"g","grain":"day"}]`, What: "by the grain day, which the document does not declare,"},
})

// dated returns a table with a field of days or instants, or any that exists.
func dated(run *session.Run) (payload.Topic, *check.Finding) {
	topic, f := refusal.ExistingTopic(run)
	if f != nil {
		return topic, f
	}
	for _, t := range run.SmallestFirst() {
		for _, field := range t.Fields {
			if field.Type == wire.TypeDate || field.Type == wire.TypeDatetime {
				topic = payload.Topic{Table: t, Name: t.Name, Field: field.Name}
			}
		}
	}
	return topic, nil
}
