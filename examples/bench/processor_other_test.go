//go:build !unix

package main

import "time"

// processorTime returns 0, because it cannot be measured here. Ratios of processor
// time are then not numbers.
func processorTime() time.Duration { return 0 }
