package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOverlay finds the text that each bug replaces.
func TestOverlay(t *testing.T) {
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	replace, err := overlay(dir, t.TempDir())
	require.NoError(t, err)
	require.Contains(t, replace, filepath.Join(dir, "internal/sqltext/planted_bugs.go"))
	require.Len(t, replacements, 14)
}
