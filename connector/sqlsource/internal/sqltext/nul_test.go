package sqltext

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestNULUnbound leaves to the library what a driver cannot bind, and nothing else.
func TestNULUnbound(t *testing.T) {
	c := &Column{Column: sqlengine.Column{Class: sqlengine.ClassText, Raw: "c", Text: "c", NULUnbound: true}}
	b := &Builder{Flavor: sqlite.Flavor{}}
	for _, op := range []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpIncludes, wire.OpStartsWith, wire.OpIn, wire.OpNin} {
		for _, text := range []string{"a\x00b", "ab"} {
			_, pushed := b.Condition(c, wire.Filter{Field: "c", Op: op, Value: wire.Text(text), Values: []wire.Value{wire.Text("x"), wire.Text(text)}})
			require.Equal(t, text == "ab", pushed, "%s %q", op, text)
		}
	}
}

// TestMaxOperand leaves to the library a text that is longer than the flavor binds, and
// nothing else.
func TestMaxOperand(t *testing.T) {
	c := &Column{Column: sqlengine.Column{Class: sqlengine.ClassText, Raw: "c", Text: "c", MaxOperand: 2}}
	b := &Builder{Flavor: sqlite.Flavor{}}
	for _, op := range []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpIncludes, wire.OpStartsWith, wire.OpIn, wire.OpNin} {
		for text, want := range map[string]bool{"ab": true, "é": true, "abc": false, "aé": false} { // é has two bytes
			_, pushed := b.Condition(c, wire.Filter{Field: "c", Op: op, Value: wire.Text(text), Values: []wire.Value{wire.Text("x"), wire.Text(text)}})
			require.Equal(t, want, pushed, "%s %q", op, text)
		}
	}
}
