package enginetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPostgresPartitionedTarget lists a foreign key to a partitioned table once. The server
// keeps one more of it for each partition, which no tenant sees.
func TestPostgresPartitionedTarget(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, `
		CREATE TABLE regions (id integer PRIMARY KEY) PARTITION BY RANGE (id);
		CREATE TABLE regions_low PARTITION OF regions FOR VALUES FROM (0) TO (100);
		CREATE TABLE regions_high PARTITION OF regions FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (id);
		CREATE TABLE regions_higher PARTITION OF regions_high FOR VALUES FROM (150) TO (200);
		CREATE TABLE shops (id integer PRIMARY KEY, region integer REFERENCES regions);
		CREATE TABLE sales (id integer, region integer REFERENCES regions, PRIMARY KEY (id)) PARTITION BY RANGE (id);
		CREATE TABLE sales_first PARTITION OF sales FOR VALUES FROM (0) TO (100);
		INSERT INTO regions VALUES (1), (160); INSERT INTO shops VALUES (1, 160); INSERT INTO sales VALUES (1, 1)`)
	tables, warnings := db.discover(t, nil, time.Minute)
	require.Len(t, tables, 3)
	for _, table := range []string{"shops", "sales"} {
		assert.Equal(t, []wire.ForeignKey{{Field: "region", TargetTable: "regions", TargetField: "id"}}, tables[table].ForeignKeys, table)
	}
	assert.NotContains(t, warnings, "foreign key")
}
