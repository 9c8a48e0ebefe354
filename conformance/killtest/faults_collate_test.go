package killtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// collateFaults returns connectors over live data that sort texts by their bytes unless a sort key says collate.
func collateFaults() []fault {
	collates := func(name string, build func() http.Handler) fault {
		return fault{name: name, why: "collate asks for byte order too", kills: []string{"L7"}, options: live, build: build}
	}
	sorting := func(tables func() []memsource.Table, order func(*connector.Query, *oracle.Table)) func() http.Handler {
		return stocked(tables, twist{order: func(req *connector.Query, t *oracle.Table) {
			if req.Sort[0].Collate {
				order(req, t)
			}
		}})
	}
	letters := strings.NewReplacer("ó", "o", "ü", "u", "è", "e", " ", "", "-", "")
	return []fault{
		collates("collate ignores case", sorting(shop, withoutCase)),
		collates("collate sorts as a dictionary does", sorting(firstHotels, func(req *connector.Query, t *oracle.Table) {
			resorted(req, t, func(v wire.Value) wire.Value {
				if v.Kind() != wire.KindText {
					return v
				}
				return wire.Text(letters.Replace(strings.ToLower(v.Text())))
			})
		})),
		collates("collate brings nulls to the front", sorting(secondHotels, func(req *connector.Query, t *oracle.Table) {
			null := func(row []wire.Value) bool { return row[t.Index(req.Sort[0].Field)].IsNull() }
			values := slices.DeleteFunc(slices.Clone(t.Rows), null)
			nulls := slices.DeleteFunc(slices.Clone(t.Rows), func(row []wire.Value) bool { return !null(row) })
			copy(t.Rows, slices.Concat(nulls, values))
		})),
	}
}
