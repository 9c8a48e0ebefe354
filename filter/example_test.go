package filter_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var orders = []wire.Column{
	{Name: "id", Type: wire.TypeNumber},
	{Name: "status", Type: wire.TypeString},
	{Name: "amount", Type: wire.TypeDecimal},
	{Name: "tags", Type: wire.TypeArray},
}

var orderRows = [][]wire.Value{
	{wire.Int(1), wire.Text("paid"), wire.Decimal("9.90"), wire.Array(wire.Text("gift"))},
	{wire.Int(2), wire.Text("open"), wire.Decimal("120.00"), wire.Null()},
	{wire.Int(3), wire.Text("paid"), wire.Decimal("120.0"), wire.Array(wire.Text("gift"), wire.Text("rush"))},
	{wire.Int(4), wire.Null(), wire.Decimal("15.25"), wire.Array()},
}

func Example() {
	match, err := filter.Compile(wire.Where{And: []wire.Filter{
		{Field: "status", Op: wire.OpNin, Values: []wire.Value{wire.Text("open")}},
		{Field: "amount", Op: wire.OpGte, Value: wire.Text("10")},
	}}, orders)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range orderRows {
		ok, err := match.Match(row)
		if err != nil {
			fmt.Println(err)
			return
		}
		if ok {
			fmt.Println(row)
		}
	}
	// Output:
	// [3 paid 120.0 ["gift","rush"]]
	// [4 null 15.25 []]
}

func ExampleCompile() {
	// (amount is 120) and (tags contains rush, or status is null)
	match, err := filter.Compile(wire.Where{
		And: []wire.Filter{{Field: "amount", Op: wire.OpEq, Value: wire.Int(120)}},
		Or: [][]wire.Filter{
			{{Field: "tags", Op: wire.OpContains, Value: wire.Text("rush")}},
			{{Field: "status", Op: wire.OpIsNull}},
		},
	}, orders)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range orderRows {
		ok, err := match.Match(row)
		fmt.Println(row[0], ok, err)
	}
	// Output:
	// 1 false <nil>
	// 2 false <nil>
	// 3 true <nil>
	// 4 false <nil>
}

func ExampleCompile_unknownField() {
	_, err := filter.Compile(wire.Where{And: []wire.Filter{{Field: "colour", Op: wire.OpIsNull}}}, orders)
	var refusal *wire.Error
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Code.Status(), refusal.Message)
	}
	// Output: 422 a filter names the field "colour", which the table does not have
}

func ExampleMatcher_Match() {
	columns := []wire.Column{{Name: "size"}} // undeclared: compares as numbers if both sides are numbers
	match, err := filter.Compile(wire.Where{And: []wire.Filter{{Field: "size", Op: wire.OpGt, Value: wire.Text("9")}}}, columns)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cell := range []wire.Value{wire.Text("10"), wire.Int(8), wire.Text("small"), wire.Null(), wire.Decimal("n/a")} {
		ok, err := match.Match([]wire.Value{cell})
		if err != nil {
			fmt.Println(err) // the row can be neither kept nor dropped
			return
		}
		fmt.Println(cell, ok)
	}
	// Output:
	// 10 true
	// 8 false
	// small true
	// null false
	// column "size", which a filter compares: not plain decimal digits; a decimal is an optional sign, digits, and optionally a dot and digits
}

func ExampleCompare() {
	order, ok := filter.Compare(wire.Decimal("1.50"), wire.Float(1.5), wire.TypeDecimal)
	fmt.Println(order, ok)
	_, ok = filter.Compare(wire.Text("n/a"), wire.Float(1.5), wire.TypeDecimal)
	fmt.Println(ok)
	order, ok = filter.Compare(wire.Text("2024-05-01T14:00:00+02:00"), wire.Text("2024-05-01T12:00:00Z"), wire.TypeDatetime)
	fmt.Println(order, ok)
	// Output:
	// 0 true
	// false
	// 0 true
}

func ExampleSplit() {
	// The upstream can select by status only.
	can := func(f wire.Filter) bool {
		return f.Field == "status" && (f.Op == wire.OpEq || f.Op == wire.OpIn)
	}
	pushed, all := filter.Split(wire.Where{And: []wire.Filter{
		{Field: "status", Op: wire.OpEq, Value: wire.Text("paid")},
		{Field: "amount", Op: wire.OpGt, Value: wire.Int(100)},
	}}, can)
	fmt.Println("push:", len(pushed.And), pushed.And[0].Field, len(pushed.Or))
	fmt.Println("served.filters:", all)
	// Output:
	// push: 1 status 0
	// served.filters: false
}

func ExampleCompileOrder() {
	order, err := filter.CompileOrder([]wire.SortKey{{Field: "amount", Dir: wire.Desc}}, orders, nil, []string{"id"})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := slices.Clone(orderRows)
	slices.SortFunc(rows, order.Compare)
	for _, row := range rows {
		fmt.Println(row[0], row[2])
	}
	// Output:
	// 2 120.00
	// 3 120.0
	// 4 15.25
	// 1 9.90
}

func ExampleAppendKey() {
	groups := map[string]int{}
	for _, row := range orderRows {
		groups[string(filter.AppendKey(nil, row[2], wire.TypeDecimal))]++
	}
	fmt.Println(len(groups), "distinct amounts")
	// Output: 3 distinct amounts
}

func ExampleInstant() {
	at, ok := filter.Instant(wire.Text("2024-03-31T23:30:00-02:00"))
	fmt.Println(at, ok)
	// Output: 2024-04-01 01:30:00 +0000 UTC true
}

func ExampleOperators() {
	fmt.Println(filter.Operators())
	// Output: [eq neq gt gte lt lte in nin contains includes startswith isnull notnull]
}
