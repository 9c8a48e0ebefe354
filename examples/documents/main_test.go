package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// store returns a file with documents of several shapes, and an empty bucket.
func store(t *testing.T) source {
	db := testkit.Must(bbolt.Open(filepath.Join(t.TempDir(), "shop.db"), 0o600, &bbolt.Options{NoSync: true}))(t)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		for name, all := range map[string]map[string]string{
			"customers": {
				"c1": `{"name":"Ada","since":"2024-05-01","address":{"city":"Bonn"}}`,
				"c2": `{"name":"Bob","since":"2023-01-31","vip":true}`,
				"c3": `{"name":null,"since":"2022-12-24","tags":["new","north"]}`,
			},
			"orders": {
				"1": `{"customer":"c1","total":12.50,"placed":"2024-05-01T10:00:00+02:00"}`,
				"2": `{"customer":"c1","total":90071992547409931.10,"placed":"2024-05-02T10:00:00Z"}`,
				"3": `{"customer":"c2","total":7,"placed":"2024-05-03T10:00:00.5Z"}`,
			},
			"empty": {},
		} {
			bucket := testkit.Must(tx.CreateBucket([]byte(name)))(t)
			testkit.Must(bucket.CreateBucket([]byte("within")))(t)
			for key, value := range all {
				require.NoError(t, bucket.Put([]byte(key), []byte(value)))
			}
		}
		return nil
	}))
	return source{db}
}

// TestDocuments runs the conformance program over the store.
func TestDocuments(t *testing.T) {
	connectortest.Run(t, connector.Definition{Slug: "documents", KeysEnforced: true}, store(t), nil)
}

// TestDiscover checks the columns that the documents give.
func TestDiscover(t *testing.T) {
	d := testkit.Must(store(t).Discover(t.Context(), &wire.DiscoveryRequest{}))(t)
	require.Len(t, d.Tables, 3)
	types := map[string]wire.Type{}
	for _, table := range d.Tables {
		for _, f := range table.Fields {
			types[table.Name+"."+f.Name] = f.Type
		}
	}
	assert.Equal(t, map[string]wire.Type{
		"customers._key": "string", "customers.name": "string", "customers.since": "date", "customers.address": "json",
		"customers.vip": "boolean", "customers.tags": "array",
		"orders._key": "string", "orders.customer": "string", "orders.total": "decimal", "orders.placed": "datetime",
	}, types)
	assert.Empty(t, d.Tables[1].Fields, "the empty bucket")
}
