// Command release makes a version of this repository: of the library and of the
// nested modules that others import or run.
//
//	go run -C internal/release . -proxy /dir v0.1.0  # a file module proxy of the tree as it is
//
// Nested modules require the library with a replace directive that leads into the
// tree. A release of one requires the version instead, without replace directives.
package main
