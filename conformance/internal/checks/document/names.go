package document

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// namesOnce looks for a name that a list of the document holds twice.
func namesOnce(run *session.Run) *check.Finding {
	var keys []string
	for _, f := range run.Document.CredentialSchema {
		keys = append(keys, f.Key)
	}
	run.Cases = 3
	for _, list := range []struct{ member, twice string }{
		{"capabilities.operators", twice(run.Document.Capabilities.Operators)},
		{"endpoints", twice(run.Document.Endpoints)},
		{"credentialSchema", twice(keys)},
	} {
		if list.twice != "" {
			return check.Fail("%s lists %s twice", list.member, terms.QuoteName(list.twice))
		}
	}
	return nil
}

// twice returns a name that a list holds twice, or "".
func twice[S ~string](list []S) string {
	for i, name := range list {
		if slices.Contains(list[:i], name) {
			return string(name)
		}
	}
	return ""
}

// kinds are names of widespread kinds of sources. The protocol does not say which ones
// are built into the platform.
var kinds = []string{
	"airtable", "athena", "bigquery", "cassandra", "clickhouse", "cockroachdb", "csv", "databricks", "duckdb", "dynamodb",
	"elasticsearch", "excel", "google-sheets", "graphql", "hubspot", "jira", "json", "mariadb", "mongodb", "mssql",
	"mysql", "notion", "oracle", "parquet", "postgres", "postgresql", "redis", "redshift", "rest", "salesforce",
	"sharepoint", "shopify", "snowflake", "sql", "sql-server", "sqlite", "sqlserver", "stripe", "trino",
}

func ownSlug(run *session.Run) *check.Finding {
	run.Cases = 1
	if !slices.Contains(kinds, run.Document.Slug) {
		return nil
	}
	return check.Fail("the slug %s may be that of a kind of source that is built into the platform", terms.QuoteName(run.Document.Slug))
}
