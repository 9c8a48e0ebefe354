package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sampleSchema has what databases have that nobody here made.
const sampleSchema = `
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%');
CREATE TYPE pair AS (x int, y text);

CREATE TABLE regions (country char(2), code varchar(5), name text NOT NULL, PRIMARY KEY (country, code));
INSERT INTO regions VALUES ('DE', 'BY', 'Bayern'), ('DE', 'BE', 'Berlin'), ('FR', 'BY', 'Bretagne');

CREATE TABLE staff (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, boss int REFERENCES staff, country char(2), region varchar(5),
  feeling mood, mail email UNIQUE, tags text[], matrix int[][], duo pair, span int4range, net inet, late interval, flags bit(4),
  doc jsonb, raw xml, search tsvector, spot point, moods mood[], floats float8[], blobs bytea[],
  full_name text GENERATED ALWAYS AS (coalesce(mail, '') || '!') STORED,
  FOREIGN KEY (country, region) REFERENCES regions (country, code));
INSERT INTO staff (boss, country, region, feeling, mail, tags,
  matrix, duo, span, net, late, flags, doc, raw, search, spot, moods, floats, blobs)
  SELECT nullif(i - 1, 0), 'DE', 'BY', (ARRAY['sad', 'ok', 'happy']::mood[])[1 + i % 3],
  'p' || i || '@x', ARRAY['a', i::text, NULL],
  ARRAY[ARRAY[i, 2], ARRAY[3, 4]], (i, 'a"b')::pair, int4range(i, i + 2), '10.0.0.1', i * interval '1 day', B'0101',
  jsonb_build_object('n', i), '<a/>'::xml, to_tsvector('simple', 'one two'), point(i, 2), '{sad,happy}',
  ARRAY[i / 3.0, 0.1], ARRAY[decode('00ff', 'hex')] FROM generate_series(1, 20) i;

CREATE DOMAIN address AS inet;
CREATE TABLE printed (i inet, a address, c cidr, m macaddr, m8 macaddr8, iv interval, tm time, tz timetz, b bit(4), vb varbit,
  ln line, ls lseg, bx box, pa path, po polygon, ci circle, tq tsquery, r numrange, tr tsrange, dr daterange,
  rc regclass, rt regtype, nm name, ch "char", lsn pg_lsn, x xid, td tid, jp jsonpath);
INSERT INTO printed VALUES ('1.2.3.4', '1.2.3.4', '1.2.3.4', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', '-1 day 2 hours', '10:00',
  '10:00+02', '1010', '101', '{1,2,3}', '[(1,2),(3,4)]', '(1,2),(3,4)', '((1,2),(3,4))', '((1,2),(3,4))', '<(1,2),3>', 'a & b', '[1.5,2]',
  '[2024-01-01,2024-01-02]', '[2024-01-01,2024-01-02]', 'pg_class', 'int4', 'nm', 'c', '0/1', '5', '(0,1)', '$.a');
INSERT INTO printed (i, a, c, ch) VALUES ('1.2.3.4/24', '::1/128', '10.1.0.0/16', ''), ('::ffff:1.2.3.4', '::/0', '::1', NULL);

CREATE TABLE readings (at timestamptz NOT NULL, sensor int NOT NULL, value numeric(8,3), PRIMARY KEY (at, sensor)) PARTITION BY RANGE (at);
CREATE TABLE readings_old PARTITION OF readings FOR VALUES FROM (MINVALUE) TO ('2024-01-01');
CREATE TABLE readings_new PARTITION OF readings FOR VALUES FROM ('2024-01-01') TO (MAXVALUE);
CREATE INDEX ON readings (value);
INSERT INTO readings SELECT timestamptz '2023-12-31 00:00+00' + i * interval '1 hour', i % 3, i / 8.0 FROM generate_series(1, 60) i;

CREATE TABLE vehicles (id int PRIMARY KEY, name text);
CREATE TABLE trucks (load float4) INHERITS (vehicles);
INSERT INTO vehicles VALUES (1, 'bike');
INSERT INTO trucks VALUES (1, 'truck', 7.25), (2, 'lorry', 'NaN');

CREATE MATERIALIZED VIEW totals AS SELECT sensor, sum(value) AS total, count(*) AS n FROM readings GROUP BY sensor;
CREATE VIEW happy AS SELECT s.id, s.mail, b.mail AS boss FROM staff s LEFT JOIN staff b ON b.id = s.boss WHERE s.feeling = 'happy';
CREATE VIEW "no columns" AS SELECT;

CREATE TABLE "Mixed ""Case"" ü" ("select" int, "a.b" text, "semi;colon" text, "$1" text, " " int, "ÄÖ" text PRIMARY KEY);
INSERT INTO "Mixed ""Case"" ü" SELECT i, 'x' || i, ';--', '$1', -i, 'ä' || i FROM generate_series(1, 12) i;

CREATE TABLE empty (id bigint PRIMARY KEY, at timestamp);
CREATE UNLOGGED TABLE bare (n int, t text);
INSERT INTO bare SELECT 1, 'same' FROM generate_series(1, 9)`

// wide is a table of 900 columns, and wideTable makes and fills it.
var wide, wideTable = func() (wire.Table, string) {
	table := wire.Table{Name: "wide"}
	kinds := []struct {
		sql, value string
		wire       wire.Type
	}{
		{"int", "i", wire.TypeNumber},
		{"text", "'t' || i", wire.TypeString},
		{"numeric(9,2)", "i / 4.0", wire.TypeDecimal},
		{"date", "date '2024-02-28' + i", wire.TypeDate},
		{"float8", "i / 3.0", wire.TypeNumber},
	}
	var columns, values []string
	for i := range 900 {
		k := kinds[i%len(kinds)]
		name := fmt.Sprintf("c%d", i)
		table.Fields = append(table.Fields, wire.Field{Name: name, Type: k.wire})
		columns, values = append(columns, name+" "+k.sql), append(values, k.value)
	}
	return table, "CREATE TABLE wide (" + strings.Join(columns, ", ") + "); INSERT INTO wide SELECT " + strings.Join(values, ", ") +
		" FROM generate_series(1, 5) i; ANALYZE wide"
}()

// samples returns a database with sampleSchema, a foreign table and a table of
// 900 columns.
func samples(t *testing.T) (*postgresDatabase, *connectortest.Tenant) {
	t.Helper()
	db := newPostgres(t)
	db.execute(t, sampleSchema)
	if _, err := db.Exec(`CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
		CREATE FOREIGN TABLE outside (a int, b text) SERVER files OPTIONS (program 'printf "1,x\n2,y\n"', format 'csv')`); err != nil {
		t.Logf("without a foreign table: %v", err)
	}
	db.execute(t, wideTable)
	return db, db.with(pgxrows.PostgreSQL()).caller(t, nil)
}

// TestPostgresSamples discovers a database of many kinds of tables, and compares every
// cell with what PostgreSQL itself makes of it as text.
func TestPostgresSamples(t *testing.T) {
	t.Parallel()
	db, tenant := samples(t)
	d, err := tenant.Discover()
	require.NoError(t, err)
	tables := map[string]wire.Table{}
	for _, table := range d.Tables {
		tables[table.Name] = table
	}
	for name, want := range map[string]struct {
		key    string
		stores bool
		rows   int64
		refs   string
	}{
		"regions":        {"country,code", true, 3, ""},
		"staff":          {"id", true, 20, "boss>staff.id country>regions.country region>regions.code"},
		"readings":       {"at,sensor", true, 60, ""},
		"vehicles":       {"", true, 3, ""}, // others inherit from it
		"trucks":         {"", true, 2, ""},
		"totals":         {"", true, 3, ""},
		"happy":          {"", false, 7, ""},
		`Mixed "Case" ü`: {"ÄÖ", true, 12, ""},
		"empty":          {"id", true, 0, ""},
		"bare":           {"", true, 9, ""},
	} {
		table, ok := tables[name]
		if !assert.True(t, ok, "%s is not listed", name) {
			continue
		}
		assert.Equal(t, want.key, strings.Join(table.PrimaryKey, ","), name)
		assert.Equal(t, want.stores, table.StoresRows, name)
		var refs []string
		for _, k := range table.ForeignKeys {
			refs = append(refs, k.Field+">"+k.TargetTable+"."+k.TargetField)
		}
		slices.Sort(refs)
		assert.Equal(t, want.refs, strings.Join(refs, " "), name)
		n, err := tenant.Size(name)
		require.NoError(t, err, name)
		assert.Equal(t, want.rows, n.Rows, name)
	}
	assert.NotContains(t, tables, "readings_old", "a partition is read by its table")
	tables["wide"] = wide
	for name, table := range tables {
		t.Run(name, func(t *testing.T) { compareCells(t, db, tenant, table) })
	}
}

// compareCells reads a whole table and compares it with hand SQL.
func compareCells(t *testing.T, db *postgresDatabase, tenant *connectortest.Tenant, table wire.Table) {
	fields := make([]string, len(table.Fields))
	exprs := make([]string, len(fields))
	quote := sqlsource.PostgreSQL().Quote
	for i, f := range table.Fields {
		fields[i] = f.Name
		exprs[i] = castByHand(quote(f.Name), f.Type)
	}
	answer, err := tenant.Unverified().Query(wire.QueryRequest{Table: table.Name, Sort: []wire.SortKey{}, Fields: fields})
	require.NoError(t, err)
	got := spelled(answer.Rows, "|")
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	_, err = conn.ExecContext(t.Context(), "SET extra_float_digits = 1; SET bytea_output = hex; SET datestyle = ISO")
	require.NoError(t, err)
	want := linesOf(t, conn, "", "SELECT concat_ws('|', "+strings.Join(chunks(exprs), ", ")+") FROM "+quote(table.Name))
	slices.Sort(got)
	slices.Sort(want)
	require.Equal(t, want, got)
}

// chunks joins expressions into fewer, because a function takes 100 arguments.
func chunks(exprs []string) (joined []string) {
	for part := range slices.Chunk(exprs, 90) {
		joined = append(joined, "concat_ws('|', "+strings.Join(part, ", ")+")")
	}
	return joined
}

// castByHand returns the text of a column's cell as someone would write it who does
// not use this library.
func castByHand(column string, kind wire.Type) string {
	text := column + "::text"
	switch kind {
	case wire.TypeString: // as psql prints it, which a cast need not do
		text = "CASE WHEN NOT " + column + " IS NULL THEN format('%s', " + column + ") END"
	case wire.TypeDate:
		text = "to_char(" + column + ", 'YYYY-MM-DD')"
	case wire.TypeDatetime:
		text = "to_char(" + column + " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
	case wire.TypeArray:
		text = "array_to_json(" + column + ")::text"
	case wire.TypeJSON:
		text = "replace(" + text + ", ': ', ':')"
	case wire.TypeNumber:
		text = "nullif(" + text + ", 'NaN')"
	}
	return "coalesce(" + text + ", 'null')"
}
