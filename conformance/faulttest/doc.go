// Package faulttest measures what the conformance program finds of faults that its
// authors did not think of. It plants faults as authors of connectors make them, at one
// column or one table of connectors that are right otherwise: over a REST API, over SQL,
// over files, and one that does not use this library. MATRIX.md says which are found.
//
//	go test .                                                                  # a sample
//	CONFORMANCE_MATRIX=whole go test -timeout 60m -run TestRealistic . -update  # all, minutes
package faulttest
