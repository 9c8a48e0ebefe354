package connector_test

import "github.com/connectorsdk/connector-sdk-go/connector"

// combinations are sources with none of the six optional interfaces that show as
// endpoints or flags, with one, with all but one, and with all. Each interface is
// looked for by itself, so these sets show one that needs another or excludes it.
// The key is the set: bit 0 Size, 1 Count, 2 Aggregate, 3 Cardinality,
// 4 LinkHitRate, 5 QueryJoined; TestCombinations holds each to it.
var combinations = map[int]connector.Source{
	0: core{},
	1: struct {
		core
		sizer
	}{},
	2: struct {
		core
		counter
	}{},
	4: struct {
		core
		aggregator
	}{},
	8: struct {
		core
		measurer
	}{},
	16: struct {
		core
		linker
	}{},
	32: struct {
		core
		joiner
	}{},
	62: struct {
		core
		counter
		aggregator
		measurer
		linker
		joiner
	}{},
	61: struct {
		core
		sizer
		aggregator
		measurer
		linker
		joiner
	}{},
	59: struct {
		core
		sizer
		counter
		measurer
		linker
		joiner
	}{},
	55: struct {
		core
		sizer
		counter
		aggregator
		linker
		joiner
	}{},
	47: struct {
		core
		sizer
		counter
		aggregator
		measurer
		joiner
	}{},
	31: struct {
		core
		sizer
		counter
		aggregator
		measurer
		linker
	}{},
	63: endpoints{},
}
