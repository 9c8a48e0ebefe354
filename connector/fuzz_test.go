package connector_test

import (
	"context"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// FuzzRequest checks that whatever a body holds, the answer is a clean one: the
// route's own, or an envelope below 500.
func FuzzRequest(f *testing.F) {
	for i, r := range routes {
		f.Add(uint8(i), r.body)
		f.Add(uint8(i), r.body[:len(r.body)-1]+`,"x":[{"y":null}]}`)
	}
	f.Add(uint8(2), query(hopQuery))
	f.Add(uint8(2), query(`"and":[{"field":"price","op":"gte","value":"1e5"}],"or":[[],[{"field":"name","op":"in",`+
		`"values":["pen",null]}]],"sort":[{"field":"price","dir":"desc"}],"fields":["id","price"],"limit":2,`+
		`"offset":1`))
	f.Add(uint8(2), sqlBody)
	f.Add(uint8(4), strings.Replace(good("/aggregate"), `"groupBy":[]`,
		`"groupBy":[{"field":"id","as":"d","grain":"day"}]`, 1))
	src := full{speaker: speaker{dialect: "ansi"}}
	src.joiner = func(_ context.Context, req *connector.Query, out *connector.Rows) error {
		columns := items().Columns()
		for i, j := range req.Joins {
			for _, field := range j.Fields {
				columns = append(columns, wire.Column{Name: field.As, Hop: i + 1})
			}
		}
		return out.Begin(columns).Row(make([]wire.Value, len(columns))...)
	}
	h := newHandler(f, src, nil)
	f.Fuzz(func(t *testing.T, route uint8, body string) {
		w := direct(h, routes[int(route)%len(routes)].path, body)
		switch {
		case w.Code == 408:
			t.Skip("the body asks for a millisecond")
		case w.Code >= 500:
			t.Fatalf("%d %s", w.Code, w.Body)
		case w.Code >= 400:
			var e wire.ErrorAnswer
			if err := wire.Decode(w.Body.Bytes(), &e); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if w.Body.Len() > 8<<10 || e.Error.Code.Status() != w.Code {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		case w.Code != 200 && w.Code != 204:
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	})
}
