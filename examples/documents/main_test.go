package main

import (
	"encoding/json"
	"os"
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
	var buckets map[string]map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(testkit.Must(os.ReadFile("testdata/shop.json"))(t), &buckets))
	db := testkit.Must(bbolt.Open(filepath.Join(t.TempDir(), "shop.db"), 0o600, &bbolt.Options{NoSync: true}))(t)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		for name, all := range buckets {
			bucket := testkit.Must(tx.CreateBucket([]byte(name)))(t)
			testkit.Must(bucket.CreateBucket([]byte("within")))(t)
			for key, value := range all {
				require.NoError(t, bucket.Put([]byte(key), value))
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

// TestKeys: a key is a text whatever it looks like, because two spellings of one time are two keys. A member of
// its name is not overwritten.
func TestKeys(t *testing.T) {
	s := store(t)
	put := func(bucket, key, value string) error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte(bucket))
			require.NoError(t, err)
			return b.Put([]byte(key), []byte(value))
		})
	}
	require.NoError(t, put("log", "2026-01-02", `{"n": 1}`))
	require.NoError(t, put("log", "2026-01-02T00:00:00Z", `{"n": 2}`))
	tenant := connectortest.Start(t, connector.Definition{Slug: "documents", KeysEnforced: true}, s, nil).As(nil).Unverified()
	answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "log", Fields: []string{"_key"}}))(t)
	assert.JSONEq(t, `[{"_key": "2026-01-02"}, {"_key": "2026-01-02T00:00:00Z"}]`, answer.JSON())
	require.NoError(t, put("own", "a", `{"_key": "b"}`))
	_, err := tenant.Query(wire.QueryRequest{Table: "own", Fields: []string{"_key"}})
	require.Equal(t, wire.CodeInternal, wire.CodeOf(err))
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
