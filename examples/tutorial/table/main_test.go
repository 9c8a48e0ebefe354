package main

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/examples/tutorial/internal/chapter"
)

func TestTutorial(t *testing.T) { chapter.Test(t, "table", definition, source{}) }

func TestGraded(t *testing.T) { connectortest.Run(t, definition, source{}, nil) }
