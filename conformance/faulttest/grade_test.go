package faulttest

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
)

// grade runs the live mode over a connector, in a bubble whose time costs nothing.
// build is called in the bubble, and so is what it returns to release the connector.
// With hasty, the run ends with the first check that fails.
func grade(
	t *testing.T, options conformance.Options, hasty bool, build func() (h http.Handler, release func()),
) (report *conformance.Report) {
	t.Helper()
	options.Mode = conformance.ModeLive
	options.Seed = 1
	synctest.Test(t, func(t *testing.T) {
		h, release := build()
		defer release()
		target, stop := conformance.InProcess(h, token)
		defer stop()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if hasty {
			options.Progress = func(e conformance.Event) {
				if e.Done != nil && e.Done.Verdict == conformance.Fail {
					cancel()
				}
			}
		}
		var err error
		report, err = conformance.Run(ctx, target, &options)
		require.NoError(t, err)
	})
	return report
}
