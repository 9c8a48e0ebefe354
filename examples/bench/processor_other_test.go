//go:build !unix

package main

import "time"

// processorTime is not taken here: the ratios of processor time are not numbers.
func processorTime() time.Duration { return 0 }
