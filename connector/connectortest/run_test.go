package connectortest

import (
	"testing"
)

// Honest sources pass, whatever they leave to the SDK.
func TestRun(t *testing.T) {
	t.Run("everything", func(t *testing.T) { Run(t, shopDefinition, shop(t), Config{}) })
	t.Run("naive", func(t *testing.T) { Run(t, shopDefinition, naive{shopTables()}, Config{}) })
}
