// Package house holds the tests that keep the repository in order and belong to
// no single package, such as the listing of the public API in docs/api.txt.
package house
