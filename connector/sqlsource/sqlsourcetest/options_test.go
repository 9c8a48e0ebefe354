package sqlsourcetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWithout knows the names of all parts, and no other.
func TestWithout(t *testing.T) {
	_, unknown := unknownPart(parts)
	assert.False(t, unknown)
	_, unknown = unknownPart(nil)
	assert.False(t, unknown)
	name, unknown := unknownPart([]string{"pages", "page", "keys"})
	assert.True(t, unknown)
	assert.Equal(t, "page", name)
	assert.Contains(t, (&Options{Without: []string{"keys"}}).withDefaults(t).Without, "changing pages")
}
