package corpus

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var update = flag.Bool("update", false, "write the oracle's answers into the cases that are not answered by hand")

func TestMain(m *testing.M) { testrun.Main(m) }

func oracleTables() oracle.Tables {
	tables := oracle.Tables{}
	for _, t := range Tables() {
		tables[t.Name] = &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey, Rows: t.Rows}
	}
	return tables
}

// caseList returns the cases on disk, which differ from the embedded ones right after an update,
// and those with long operands.
func caseList(t *testing.T) (cases []caseFile) {
	for _, name := range testkit.Must(filepath.Glob("cases/*.json"))(t) {
		text := testkit.Must(os.ReadFile(name))(t)
		cases = append(cases, testkit.Must(readCases(text))(t, name)...)
	}
	answers := longAnswers()
	for _, c := range longOperands() {
		cases = append(cases, caseFile{Case: c, Answer: json.RawMessage(answers[c.Name])})
	}
	return cases
}

// longAnswers returns the answers of the cases with long operands, by their names.
func longAnswers() map[string]string {
	answers := map[string]string{}
	for i, size := range lengths {
		for _, op := range []wire.Op{wire.OpEq, wire.OpIn, wire.OpStartsWith, wire.OpIncludes} {
			answers[fmt.Sprintf("%s-text-of-%d", op, size)] = fmt.Sprintf(`{"columns":["id"],"rows":[[%d]]}`, 3*i+2)
		}
		// The texts begin with their lengths: 299, 1099, 4999 and 69999.
		greater := []string{"[3],[7],[8],[9],[10],[11],[12]", "[1],[2],[3],[6],[7],[8],[9],[10],[11],[12]", "[9],[10],[11],[12]", "[12]"}[i]
		answers[fmt.Sprintf("gt-text-of-%d", size)] = `{"columns":["id"],"rows":[` + greater + `]}`
		answers[fmt.Sprintf("count-eq-text-of-%d", size)] = "1"
	}
	return answers
}

// answerTo returns the oracle's answer to the request of a case, as a file of cases spells it: for a
// query its columns and rows, for a count its number, for every other route the body of the protocol.
func answerTo(t *testing.T, tables oracle.Tables, request wire.Request) string {
	t.Helper()
	switch r := request.(type) {
	case *wire.QueryRequest:
		table := testkit.Must(oracle.Query(tables, r))(t)
		columns, rows := []string{}, [][]wire.Value{}
		for _, c := range table.Columns {
			columns = append(columns, c.Name)
		}
		return `{"columns":` + encode(t, columns) + `,"rows":` + encode(t, append(rows, table.Rows...)) + "}"
	case *wire.CountRequest:
		return encode(t, testkit.Must(oracle.Count(tables, r))(t))
	case *wire.AggregateRequest:
		table := testkit.Must(oracle.Aggregate(tables, r))(t)
		if int64(len(table.Rows)) >= r.Limit {
			return `"too many groups"`
		}
		var groups []string
		for _, row := range table.Rows {
			var members []string
			for i, v := range row {
				members = append(members, encode(t, table.Columns[i].Name)+":"+encode(t, v))
			}
			groups = append(groups, "{"+strings.Join(members, ",")+"}")
		}
		return `{"rows":[` + strings.Join(groups, ",") + `]}`
	case *wire.SizeRequest:
		return fmt.Sprintf(`{"size":{"rows":%d,"exact":true}}`, len(tables[r.Table].Rows))
	case *wire.CardinalityRequest:
		columns := map[string]*wire.Cardinality{}
		for _, column := range r.Columns {
			counts := testkit.Must(oracle.Cardinality(tables[r.Table], column))(t)
			columns[column] = &counts
		}
		return string(testkit.Must(wire.EncodeAnswer(&wire.CardinalityAnswer{Columns: columns}))(t))
	case *wire.LinkHitRateRequest:
		rate := testkit.Must(oracle.LinkHitRate(tables, r))(t)
		return string(testkit.Must(wire.EncodeAnswer(rate))(t))
	}
	t.Fatalf("a %T has no answer", request)
	return ""
}

func encode(t *testing.T, v any) string { return string(testkit.Must(json.Marshal(v))(t)) }

// ascii returns JSON with escapes, so that differences in normal form or in
// white space are visible in a file.
func ascii(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < 0x7f {
			b.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// updateCases writes the oracle's answers into the files. It keeps the answers written by hand.
func updateCases(t *testing.T, tables oracle.Tables) {
	t.Helper()
	for _, name := range testkit.Must(filepath.Glob("cases/*.json"))(t) {
		text := string(testkit.Must(os.ReadFile(name))(t))
		for _, c := range testkit.Must(readCases([]byte(text)))(t, name) {
			if c.ByHand {
				continue
			}
			before, rest, found := strings.Cut(text, `{"name": "`+c.Name+`"`)
			require.True(t, found, "%s: the case %s does not begin with its name", name, c.Name)
			old, answer := `"answer": `+string(c.Answer), `"answer": `+answerTo(t, tables, c.Case.Request)
			text = before + `{"name": "` + c.Name + `"` + strings.Replace(rest, old, answer, 1)
		}
		require.NoError(t, os.WriteFile(name, []byte(ascii(text)), 0o644))
	}
}

// TestCasesAgainstTheOracle checks that every committed answer is the oracle's.
func TestCasesAgainstTheOracle(t *testing.T) {
	tables := oracleTables()
	if *update {
		updateCases(t, tables)
	}
	for _, c := range caseList(t) {
		assert.Equal(t, ascii(answerTo(t, tables, c.Case.Request)), ascii(encode(t, c.Answer)), c.Name)
	}
}

// A judge holds an answer against tables under one reading of the protocol.
type judge func(oracle.Reading, oracle.Tables) *oracle.Difference

// judgeOf returns the judge of the oracle's answer to a request. Sizes and measurements have no readings.
func judgeOf(t *testing.T, tables oracle.Tables, request wire.Request) judge {
	t.Helper()
	switch r := request.(type) {
	case *wire.QueryRequest:
		answer := testkit.Must(oracle.Query(tables, r))(t)
		return func(reading oracle.Reading, other oracle.Tables) *oracle.Difference {
			return reading.Verify(other, r, answer.Rows)
		}
	case *wire.CountRequest: // as many rows without members
		rows := make([][]wire.Value, testkit.Must(oracle.Count(tables, r))(t))
		q := &wire.QueryRequest{Table: r.Table, Where: r.Where}
		return func(reading oracle.Reading, other oracle.Tables) *oracle.Difference {
			return reading.Verify(other, q, rows)
		}
	case *wire.AggregateRequest:
		answer := testkit.Must(oracle.Aggregate(tables, r))(t)
		if int64(len(answer.Rows)) >= r.Limit {
			break
		}
		groups := []map[string]wire.Value{}
		for _, row := range answer.Rows {
			group := map[string]wire.Value{}
			for i, c := range answer.Columns {
				group[c.Name] = row[i]
			}
			groups = append(groups, group)
		}
		return func(reading oracle.Reading, other oracle.Tables) *oracle.Difference {
			return reading.VerifyGroups(other, r, groups)
		}
	}
	return func(oracle.Reading, oracle.Tables) *oracle.Difference { return nil }
}

// TestCasesAreSettled checks that no case fails a connector for a choice that
// the protocol leaves open: under every reading the answer is the same, and if
// not, the case is advice.
func TestCasesAreSettled(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	tables := oracleTables()
	for _, c := range caseList(t) {
		open, judge := 0, judgeOf(t, tables, c.Case.Request)
		for _, reading := range oracle.Readings() {
			if judge(reading, tables) != nil {
				open++
			}
		}
		if r, ok := c.Case.Request.(*wire.CardinalityRequest); ok {
			for _, column := range r.Columns {
				least, most, err := oracle.DistinctRange(tables[r.Table], column)
				require.NoError(t, err, c.Name)
				if least != most {
					open++
				}
			}
		}
		assert.Equal(t, c.Check[0] == 'A', open > 0, "%s: a case is advice where readings differ, and only there", c.Name)
	}
}
