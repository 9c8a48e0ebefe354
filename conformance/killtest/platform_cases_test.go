package killtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPlatformForeignCases asks the cases of the corpus of a connector that was
// written without this library. It joins and aggregates nothing itself.
func TestPlatformForeignCases(t *testing.T) {
	skipShort(t)
	t.Parallel()
	client, err := platform.NewClient(startForeign(t, ""), wire.NewBearer(testToken), &platform.Options{Local: true})
	require.NoError(t, err)
	c, err := platform.Connect(t.Context(), client, wire.Credentials{}, &platform.ConnectionOptions{DiscoverOnly: true})
	require.NoError(t, err)
	for i, test := range corpus.Cases() {
		if !testrun.Runs(i, 8) {
			continue
		}
		if err := casetest.Ask(t.Context(), c, test); err != nil {
			t.Errorf("%s (%s): %v", test.Name, test.Why, err)
		}
	}
}
