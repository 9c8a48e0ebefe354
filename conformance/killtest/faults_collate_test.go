package killtest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// collating is collated where the first sort key says collate.
type collating struct{ *liveSource }

func (s collating) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if len(req.Sort) > 0 && req.Sort[0].Collate {
		return collated(s).Query(ctx, req, out)
	}
	return s.liveSource.Query(ctx, req, out)
}

// collateFaults returns connectors over live data that sort texts by their bytes unless a sort key says collate.
func collateFaults() []fault {
	collates := func(name string, build func() http.Handler) fault {
		return fault{name: name, why: "collate asks for byte order too", kills: []string{"L7"}, options: live, build: build}
	}
	sorting := func(chain int, order func(*connector.Query, *oracle.Table)) func() http.Handler {
		return func() http.Handler {
			d := pagedSourceOf(hotelTables(chain)...)
			wrong := twist{order: func(req *connector.Query, t *oracle.Table) {
				if req.Sort[0].Collate {
					order(req, t)
				}
			}}
			return serve(connector.Definition{}, &oracleSource{twist: wrong, tables: d.tables, list: d.list}, nil)
		}
	}
	letters := strings.NewReplacer("ó", "o", "ü", "u", "è", "e", " ", "", "-", "")
	return []fault{
		collates("collate ignores case", func() http.Handler { return serve(connector.Definition{}, collating{liveShop()}, nil) }),
		collates("collate sorts as a dictionary does", sorting(0, func(req *connector.Query, t *oracle.Table) {
			resorted(req, t, func(v wire.Value) wire.Value {
				if v.Kind() != wire.KindText {
					return v
				}
				return wire.Text(letters.Replace(strings.ToLower(v.Text())))
			})
		})),
		collates("collate brings nulls to the front", sorting(1, func(req *connector.Query, t *oracle.Table) {
			null := func(row []wire.Value) bool { return row[t.Index(req.Sort[0].Field)].IsNull() }
			values := slices.DeleteFunc(slices.Clone(t.Rows), null)
			nulls := slices.DeleteFunc(slices.Clone(t.Rows), func(row []wire.Value) bool { return !null(row) })
			copy(t.Rows, slices.Concat(nulls, values))
		})),
	}
}
