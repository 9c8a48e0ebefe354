package main

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/examples/tutorial/internal/chapter"
)

func TestTutorial(t *testing.T) { chapter.Test(t, "tenants", definition, source{}) }

func TestGraded(t *testing.T) {
	otter := map[string]string{"apiKey": "key-of-otter"}
	connectortest.Run(t, definition, source{}, &connectortest.Options{Credentials: otter})
}
