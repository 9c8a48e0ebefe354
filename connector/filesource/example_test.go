package filesource_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var files = fstest.MapFS{
	"acme/orders.csv":        {Data: []byte("id,customer,total\n1,A,10.50\n2,B,7\n")},
	"acme/orders.table.json": {Data: []byte(`{"description": "Orders placed in the shop.", "primaryKey": ["id"]}`)},
	"acme/customers.ndjson":  {Data: []byte(`{"code": "A", "name": "Ann"}` + "\n" + `{"code": "B"}`)},
}

func ExampleFS() {
	src, err := filesource.FS(files, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	token, err := wire.NewToken("a-token-of-at-least-32-characters")
	if err != nil {
		log.Fatal(err)
	}
	definition := connector.Definition{Slug: "files", Credentials: filesource.Credentials()}
	_, err = connector.New(definition, src, token, nil)
	fmt.Println(err)

	// What a tenant sees.
	credentials := wire.NewCredentials(map[string]string{"tenant": "acme"})
	found, err := src.Discover(context.Background(), &wire.DiscoveryRequest{Envelope: wire.Envelope{Credentials: credentials}})
	if err != nil {
		log.Fatal(err)
	}
	for _, table := range found.Tables {
		fmt.Println(table.Name, *table.RowCount, table.PrimaryKey, table.SourceDescription)
		for _, f := range table.Fields {
			fmt.Println(" ", f.Name, f.Type, f.Nullable)
		}
	}
	// Output:
	// <nil>
	// customers 2 [] The rows of the file customers.ndjson.
	//   code string false
	//   name string true
	// orders 2 [id] Orders placed in the shop.
	//   id number false
	//   customer string false
	//   total decimal false
}
