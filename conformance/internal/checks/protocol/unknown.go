package protocol

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/refusal"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func unknownFieldChecks() []session.Check {
	const fix = "Look every field of a request up before the first row, and refuse the request with the field's name."
	unknown := func(rows []refusal.Row) refusal.Table {
		return refusal.Table{Rows: rows, Empty: true, Declinable: true}
	}
	others := []session.Check{
		{Was: "P3.4a", Facet: "fields of /query",
			Judge: unknown(inFields).Judge, Rules: []string{"filter-11a", "error-5", "filter-11c"},
			Title: "an unknown field in fields is refused"},
		{Was: "P3.4b", Facet: "sort of /query",
			Judge: unknown(inSort).Judge, Rules: []string{"filter-11a", "error-5", "filter-11c"},
			Needs: declared.Needs("sort"),
			Title: "an unknown field in sort is refused"},
		{Was: "P3.4d", Facet: "filters of /count",
			Weight: 12, Needs: declared.Needs(wire.PathCount), Judge: unknown(inFilters(wire.PathCount)).Judge,
			Rules: []string{"count-2", "filter-11c"},
			Title: "an unknown field in a filter of /count is refused"},
		{Was: "P3.4e", Facet: "/aggregate",
			Weight: 12, Needs: declared.Needs(wire.PathAggregate), Judge: unknown(inAggregate).Judge,
			Rules: []string{"filter-11a", "error-5", "filter-11c"},
			Title: "an unknown field of /aggregate is refused, or declined"},
		{Was: "P3.4f", Facet: "an or group", Weight: 12, Judge: unknown(inGroups).Judge,
			Rules: []string{"filter-11", "filter-11c"},
			Title: "an unknown field in an or group of any route is refused"},
	}
	return check.Family(session.Check{Phase: 3, Fix: fix}, []session.Check{
		{ID: "P3.4c", Weight: 12, Judge: unknown(inFilters(wire.PathQuery)).Judge,
			Rules: []string{"filter-11", "filter-11c"},
			Title: "an unknown field in a filter of /query is refused"},
		session.Merge(session.Check{ID: "P3.4", Phase: 3, Fix: fix, Title: "an unknown field elsewhere is refused"},
			check.Family(session.Check{Fix: fix}, others)),
	})
}

// unknownIn returns the row that names an unknown field in a member.
func unknownIn(member, json string, codes []wire.Code, paths ...string) refusal.Row {
	return refusal.Row{Paths: paths, Member: member, JSON: json, Codes: codes, What: "with an unknown field of table %table in " + member}
}

var inFields = []refusal.Row{unknownIn("fields", "[%field,%noField]", fieldCodes, wire.PathQuery)}

var inSort = []refusal.Row{
	unknownIn("sort", `[{"field":%noField,"dir":"asc"}]`, fieldCodes, wire.PathQuery),
	{Paths: at(wire.PathQuery), Member: "sort", JSON: `[{"field":%field,"dir":"desc"},{"field":%noField,"dir":"asc"}]`,
		What: "with an unknown field of table %table in sort", Codes: fieldCodes, Needs: declared.Needs("sort: multi")},
}

const unknownFilter = `[{"field":%noField,"op":"eq","value":"x"}]`

// inFilters returns filters on an unknown field: in each shape, behind a filter on a
// field that exists, and behind two that no row passes.
func inFilters(path string) []refusal.Row {
	return []refusal.Row{
		unknownIn("and", unknownFilter, filterCodes, path),
		unknownIn("and", `[{"field":%field,"op":"notnull"},{"field":%noField,"op":"in","values":["x"]}]`, filterCodes, path),
		unknownIn("and", `[{"field":%field,"op":"isnull"},{"field":%field,"op":"notnull"},{"field":%noField,"op":"eq","value":"x"}]`,
			filterCodes, path),
		unknownIn("and", `[{"field":%noField,"op":"isnull"}]`, filterCodes, path),
	}
}

// inGroups are or blocks with an unknown field, whose value could be known without looking at it.
var inGroups = []refusal.Row{
	unknownIn("or", `[[],[{"field":%noField,"op":"eq","value":"x"}]]`, filterCodes, wire.PathQuery, wire.PathCount, wire.PathAggregate),
	unknownIn("or", `[[{"field":%field,"op":"notnull"}],[{"field":%field,"op":"isnull"},{"field":%noField,"op":"eq","value":"x"}]]`,
		filterCodes, wire.PathQuery, wire.PathCount, wire.PathAggregate),
}

var inAggregate = []refusal.Row{
	unknownIn("groupBy", `[{"field":%noField,"as":"g"}]`, fieldCodes, wire.PathAggregate),
	unknownIn("and", unknownFilter, filterCodes, wire.PathAggregate),
	unknownIn("measures", `[{"fn":"count","as":"n"},{"fn":"max","field":%noField,"as":"m"}]`, fieldCodes, wire.PathAggregate),
	unknownIn("groupBy", `[{"field":%field,"as":"g"},{"field":%noField,"as":"h"}]`, fieldCodes, wire.PathAggregate),
	unknownIn("measures", `[{"fn":"count","field":%noField,"as":"n"}]`, fieldCodes, wire.PathAggregate),
}

// nameChecks returns the checks about names that are nearly those of a table or a
// field: in another case, or with blanks around them.
func nameChecks() []session.Check {
	return []session.Check{
		{ID: "P3.14a", Phase: 3, Weight: 20, Judge: refusal.Table{Rows: nearly(namedTables()), Declinable: true}.Judge,
			Rules: []string{"query-14", "error-5", "measure-3"},
			Title: "a table is found by its exact name only, on every route",
			Fix: "Compare table names byte for byte with those that discovery lists, before the source sees them: " +
				"many databases ignore the case of a name."},
		{ID: "P3.14b", Phase: 3, Weight: 22, Judge: refusal.Table{Rows: nearly(namedFields()), Declinable: true}.Judge,
			Rules: []string{"filter-11", "filter-11a", "error-5"},
			Title: "a field is found by its exact name only, on every route",
			Fix:   "Compare field names byte for byte with those that discovery lists, before the source sees them."},
	}
}

// nearly returns all rows with the first name that is nearly right, and then with the second.
func nearly(rows []refusal.Row) (all []refusal.Row) {
	for _, near := range []string{"%near1", "%near2"} {
		for _, row := range rows {
			row.JSON = strings.ReplaceAll(row.JSON, "%near", near)
			row.What = "with the unknown field " + near + " in " + row.Member
			if strings.HasSuffix(strings.ToLower(row.Member), "table") {
				row.What = "with the unknown table " + near
			}
			all = append(all, row)
		}
	}
	return all
}

func namedTables() (rows []refusal.Row) {
	for _, route := range routes.All {
		for member := range route.Naming("%table") {
			rows = append(rows, refusal.Row{Paths: at(route.Path), Member: member, JSON: "%near", Codes: unknownOnly})
		}
	}
	return rows
}

func namedFields() []refusal.Row {
	rows := []refusal.Row{
		{Paths: at(wire.PathQuery), Member: "and", JSON: `[{"field":%near,"op":"notnull"}]`, Codes: filterCodes},
		{Paths: at(wire.PathQuery), Member: "fields", JSON: "[%near]", Codes: fieldCodes},
		{Paths: at(wire.PathCount), Member: "and", JSON: `[{"field":%near,"op":"notnull"}]`, Codes: filterCodes},
		{Paths: at(wire.PathQuery), Member: "sort", JSON: `[{"field":%near,"dir":"asc"}]`, Codes: fieldCodes, Needs: declared.Needs("sort")},
		{Paths: at(wire.PathAggregate), Member: "groupBy", JSON: `[{"field":%near,"as":"g"}]`, Codes: fieldCodes},
		{Paths: at(wire.PathAggregate), Member: "measures", JSON: `[{"fn":"count","field":%near,"as":"n"}]`, Codes: fieldCodes},
	}
	for _, route := range routes.All {
		if !route.Measure {
			continue
		}
		for member, value := range route.Naming("%field") {
			near := "%near"
			if strings.HasPrefix(value, "[") {
				near = "[%field,%near]"
			}
			rows = append(rows, refusal.Row{Paths: at(route.Path), Member: member, JSON: near, Codes: unknownOnly})
		}
	}
	return rows
}

func hopChecks() []session.Check {
	return []session.Check{
		{ID: "P3.15a", Phase: 3, Weight: 14, Needs: declared.Needs("join"),
			Judge: refusal.Table{Rows: unknownInHops(), Declinable: true}.Judge,
			Rules: []string{"filter-11a", "query-14", "error-5", "filter-11c"},
			Title: "an unknown table or field in a hop is refused",
			Fix:   "Look up every table and field of every hop before the first row: nulls in their place hide a wrong name."},
		{ID: "P3.15b", Phase: 3, Weight: 8, Needs: declared.Needs("join"),
			Judge: refusal.Table{Rows: unknownBesideHops(), Declinable: true}.Judge,
			Rules: []string{"filter-11", "filter-11a", "query-6c", "filter-11c"},
			Title: "an unknown field beside a join is refused",
			Fix:   "Look the fields of a request up whether it has joins or not."},
		{ID: "A.21", Phase: 3, Advice: true, Needs: declared.Needs("join"),
			Rules: []string{"query-6b", "verdict-14"},
			Title: "two columns of one name are refused",
			Fix:   "Answer 400 when a joined field would have the name of another column: a row cannot hold both.",
			Judge: refusal.Table{Rows: []refusal.Row{
				{Paths: at(wire.PathQuery), Joins: "[" + strings.ReplaceAll(hop, `"joined"`, "%field") + "]", What: "with two columns of one name"},
				{Paths: at(wire.PathQuery), Joins: "[" + hop + "," + hop + "]", What: "with two columns of one name"},
			}}.Judge},
	}
}

// hop joins a table to itself.
const hop = `{"fromTable":%table,"toTable":%table,"fromField":%field,"toField":%field,` +
	`"fields":[{"field":%field,"as":"joined","type":"string"}]}`

func unknownInHops() (rows []refusal.Row) {
	for _, c := range []struct{ member, known, unknown string }{
		{"toTable", `"toTable":%table`, `"toTable":%noTable`},
		{"toField", `"toField":%field`, `"toField":%noField`},
		{"fields", `[{"field":%field`, `[{"field":%noField`},
		{"fromField", `"fromField":%field`, `"fromField":%noField`},
		{"fromTable", `"fromTable":%table`, `"fromTable":%noTable`},
	} {
		rows = append(rows, refusal.Row{
			Paths: at(wire.PathQuery, wire.PathAggregate), Joins: "[" + strings.Replace(hop, c.known, c.unknown, 1) + "]",
			What: "with an unknown name in " + c.member + " of a hop", Codes: fieldCodes,
		})
	}
	return rows
}

// unknownBesideHops returns one row of each place, with a join.
func unknownBesideHops() []refusal.Row {
	rows := []refusal.Row{inFilters(wire.PathQuery)[0], inFields[0], inSort[0], inAggregate[1]}
	for i := range rows {
		rows[i].Joins, rows[i].What = "["+hop+"]", "with an unknown field in "+rows[i].Member+" beside a join"
	}
	return rows
}
