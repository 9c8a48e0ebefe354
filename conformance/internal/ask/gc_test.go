package ask

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m) }
