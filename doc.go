// Package connectorsdk is the root of connector-sdk-go, the reference library
// for external data connectors: small HTTP services, hosted by a third party,
// that answer a data platform's questions over data the platform cannot reach.
//
// It holds no code. Begin with package connector, which serves your
// source over the protocol. The others:
//
//   - connector/memsource: a complete source of tables in memory, or of tables that
//     you read row by row;
//   - connector/filesource: a folder of CSV and NDJSON files as a complete source;
//   - connector/sqlsource: any database/sql database as a complete source;
//   - connector/restsource: the endpoints of a REST API as a source;
//   - connector/connectortest: run a source in a test, without a port, grade it as
//     the platform does, and have the answers to your own requests verified;
//   - filter: the protocol's filters, exactly as the platform judges them;
//   - wire: the protocol as Go values, and its JSON Schemas in wire/schema;
//   - ndjson: the stream of a query's answer, written and strictly read;
//   - conformance: the program that grades a connector, in any language, as
//     the platform does.
//
// The examples run as they are: go run ./examples/files serves tables at once.
package connectorsdk
