// Command release makes a version of this repository: of the library and of the
// nested modules that others import or run.
//
//	go run -C internal/release . -prepare v0.1.0     # changelog and listing of the API
//	go run -C internal/release . v0.1.0              # dry: what would be tagged, and whether it is whole
//	go run -C internal/release . -tag v0.1.0         # the same, and makes the tags
//	go run -C internal/release . -proxy /dir v0.1.0  # a file module proxy of the tree as it is
//
// Nested modules require the library with a replace directive that leads into the
// tree. A release of one requires the version instead, without replace directives.
// Those files differ from the branch's, so the tags of nested modules name a commit
// beside the branch, whose parent is the commit that is released. The library's own
// tag names that parent.
package main
