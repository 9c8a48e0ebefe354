//go:build !plantedbugs

package sqlsource

func has(bug) bool { return false }
