// Package dry holds flavors of engines that have no server in the tests: SQL Server,
// Trino and ClickHouse. Each is an example that prints the statements of ten requests,
// which were read against the engine's manual. No server has run them. What is not known
// of an engine without one, such as what its driver does with a NUL, is untested; each
// example says what.
//
// The examples show that the contract of package sqlengine can say what these engines
// need. They are not flavors to copy without the kit, package sqlsourcetest.
package dry
