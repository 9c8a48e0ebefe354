package wire

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNameSet(t *testing.T) {
	var set nameSet
	for i := range 1000 { // a few are compared, many hashed
		name := "n" + strconv.Itoa(i)
		assert.False(t, set.has(name))
		assert.True(t, set.add(name))
		assert.True(t, set.has(name))
		assert.False(t, set.add(name))
		assert.False(t, set.add("n0"))
	}
}
