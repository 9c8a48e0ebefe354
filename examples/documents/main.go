// Command documents is a connector over a document store: each bucket of a bbolt
// file is a table, and each value, a JSON object, a row.
//
//	go run -C examples/documents . my.db
package main

import (
	"context"
	"errors"
	"iter"
	"log"
	"os"

	"go.etcd.io/bbolt"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/connector/standalone"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type source struct{ db *bbolt.DB }

func (source) Check(context.Context, *wire.CheckRequest) error { return nil }

func (s source) Discover(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) {
	d := &wire.Discovery{}
	return d, s.db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			table, err := rowmap.Infer(string(name), documents(bucket))
			if len(table.Fields) > 0 {
				table.PrimaryKey = []string{"_key"}
			}
			d.Tables = append(d.Tables, table)
			return err
		})
	})
}

// Query reads a bucket twice: to find its columns, and to offer its rows. The library
// filters, sorts and cuts.
func (s source) Query(_ context.Context, req *connector.Query, out *connector.Rows) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(req.Table))
		if bucket == nil {
			return connector.UnknownEntity("there is no bucket %q", req.Table)
		}
		table, err := rowmap.Infer(req.Table, documents(bucket))
		if err != nil {
			return err
		}
		return rowmap.OfferAll(out.Begin(table.Columns()), documents(bucket))
	})
}

// documents returns the objects of a bucket, each with its key as the member _key.
func documents(bucket *bbolt.Bucket) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		cursor := bucket.Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			if value == nil {
				continue // a bucket within the bucket
			}
			document, err := rowmap.Decode(value)
			if _, taken := document["_key"]; taken && err == nil {
				err = errors.New("a document has a member _key of its own")
			}
			document["_key"] = wire.Text(string(key)) // and no date, of which two spellings would be one key
			if !yield(document, err) {
				return
			}
		}
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: documents FILE, such as my.db; it must exist")
	}
	db, err := bbolt.Open(os.Args[1], 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	definition := connector.Definition{Slug: "documents", KeysEnforced: true}
	standalone.Main(definition, source{db}, nil)
}
