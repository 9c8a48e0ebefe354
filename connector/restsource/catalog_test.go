package restsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ownObjects are what tenants find at the addresses of an API, by their tokens. Each defines objects of its own, as in
// airbytehq/airbyte#60830 (custom objects) and #48483 (the tables of a base).
var ownObjects = map[string][]string{
	shopToken: {
		"/whoami", `{}`, "/users", `[{"id": 1}]`, "/schemas", `{"results": [{"name": "cars"}, {"name": "pets"}]}`,
		"/schemas/cars", `{"fields": ["cars_name"]}`, "/schemas/pets", `{"fields": ["pets_name"]}`,
		"/objects/cars", `[{"id": 1, "owner": 1, "cars_name": "red"}, {"id": 2, "owner": null, "cars_name": null}]`,
		"/objects/pets", `[{"id": 7, "owner": 1, "pets_name": "b"}]`,
	},
	"tok-of-another-tenant": {
		"/whoami", `{}`, "/users", `[{"id": 1}]`, "/schemas", `{"results": [{"name": "boats"}]}`,
		"/schemas/boats", `{"fields": ["boats_name"]}`, "/objects/boats", `[{"id": 7, "owner": 1, "boats_name": "b"}]`,
	},
}

func objects() *remote {
	return &remote{answer: func(r *http.Request) string {
		own := ownObjects[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		if own == nil {
			return "401"
		}
		return atPlaces(own...).answer(r)
	}}
}

func tablesOf(_ context.Context, call *restsource.Call) ([]restsource.Table, error) {
	body, err := call.Get("/schemas", nil)
	if err != nil {
		return nil, err
	}
	var answer struct{ Results []struct{ Name string } }
	err = json.Unmarshal(body, &answer)
	tables := make([]restsource.Table, len(answer.Results))
	for i, o := range answer.Results {
		tables[i] = restsource.Table{
			Name: o.Name, Pages: onePage, Path: "/objects/" + o.Name, Key: []string{"id"}, Columns: columns(wire.TypeNumber, "id", "owner"),
			ForeignKeys: []wire.ForeignKey{{Field: "owner", TargetTable: "users", TargetField: "id"}},
			ColumnsOf: func(_ context.Context, get func(string, url.Values) ([]byte, error)) ([]restsource.Column, error) {
				body, err := get("/schemas/"+o.Name, nil)
				if err != nil {
					return nil, err
				}
				var answer struct{ Fields []string }
				err = json.Unmarshal(body, &answer)
				return columns(wire.TypeString, answer.Fields...), err
			},
		}
	}
	return tables, err
}

// TestTablesOf: each tenant has tables of its own, which are described in each request
// that concerns them and kept by none.
func TestTablesOf(t *testing.T) {
	api := objects()
	options := &restsource.Options{Transport: api, TablesOf: tablesOf}
	src := testkit.Must(restsource.New(shopAPI, declared("users"), options))(t)
	connectortest.Run(t, shopDefinition, src, &connectortest.Options{Credentials: shopCredentials, Requests: 400})
	connectortest.Isolation(t, shopDefinition, src, shopCredentials, map[string]string{"token": "tok-of-another-tenant"})
	tenant := connectortest.Start(t, shopDefinition, src, nil).As(shopCredentials).Unverified()
	for _, c := range []struct {
		table string
		asked []string
	}{
		{"users", []string{"/users"}},
		{"cars", []string{"/schemas", "/schemas/cars", "/objects/cars"}},
		{"cars", []string{"/schemas", "/schemas/cars", "/objects/cars"}},
	} {
		api.takeAsked()
		testkit.Must(read(t, tenant, c.table, nil, "id"))(t)
		assert.Equal(t, c.asked, api.takeAsked())
	}
	_, err := read(t, tenant, "boats", nil, "id")
	require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err), "another tenant's")
	assert.Equal(t, []string{"users", "cars", "pets"}, namesOf(testkit.Must(tenant.Discover())(t)))

	_, err = restsource.New(restsource.API{Base: shopAPI.Base}, nil, options)
	require.ErrorContains(t, err, "no table")
	testkit.Must(restsource.New(shopAPI, nil, options))(t)
}

// TestTablesOfFails: what a function of the author returns reaches the log without the
// credentials, and tables that cannot be are told of.
func TestTablesOfFails(t *testing.T) {
	for name, tables := range map[string]func(context.Context, *restsource.Call) ([]restsource.Table, error){
		"no schema for": func(_ context.Context, call *restsource.Call) ([]restsource.Table, error) {
			return nil, errors.New("no schema for " + call.Credentials.Get("token"))
		},
		"say how /orders pages": func(context.Context, *restsource.Call) ([]restsource.Table, error) {
			return []restsource.Table{{Name: "t", Path: "/orders", Columns: columns(wire.TypeNumber, "id")}}, nil // and no other
		},
	} {
		tenant, log := connect(t, shopAPI, nil, restsource.Options{Transport: objects(), TablesOf: tables})
		_, err := tenant.Discover()
		require.ErrorContains(t, err, "internal")
		log.Await(t, name)
		assert.NotContains(t, log.String(), shopToken)
	}
}

// TestTablesOfFaulty: of the tables that a tenant has, a faulty one is left out with a warning that
// names it, and so are those below it. The others are served, and what leads to it is no foreign key.
func TestTablesOfFaulty(t *testing.T) {
	tables := func(ctx context.Context, call *restsource.Call) ([]restsource.Table, error) {
		own, err := tablesOf(ctx, call)
		broken, below, users := own[1], own[1], own[1]
		broken.Name, broken.Pages, broken.Columns = "broken", restsource.Pages{}, columns("text", "code")
		below.Name, below.Parent, below.Path = "below", "broken", "/objects/{code}"
		users.Name = "users" // there is one already

		own[0].ForeignKeys = append(own[0].ForeignKeys,
			wire.ForeignKey{Field: "id", TargetTable: "broken", TargetField: "id"}) // which it lacks
		return append([]restsource.Table{broken, below, users}, own...), err
	}
	tenant, log := connect(t, shopAPI, declared("users"), restsource.Options{Transport: objects(), TablesOf: tables})
	found := testkit.Must(tenant.Discover())(t)
	require.Equal(t, []string{"users", "cars", "pets"}, namesOf(found))
	for _, table := range found.Tables[1:] {
		require.Len(t, table.ForeignKeys, 1)
		assert.Equal(t, "users", table.ForeignKeys[0].TargetTable)
	}
	for _, want := range []string{
		`Table "broken" is left out: column "code": its type is not one of the protocol's nine`,
		"say how /objects/pets pages",
		`Table "below" is left out: parent: there is no table "broken"`,
		`Table "users" is left out: there are two of this name`,
	} {
		assert.Contains(t, strings.Join(found.Warnings, "\n"), want)
	}
	log.Await(t, `table \"broken\"`)
	for _, name := range []string{"users", "cars"} {
		testkit.Must(read(t, tenant, name, nil, "id"))(t)
	}
	_, err := read(t, tenant, "broken", nil, "id")
	require.ErrorContains(t, err, "internal")
	log.Await(t, "say how /objects/pets pages")
}
