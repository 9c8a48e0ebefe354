package release

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	info := func(path, version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: path, Version: version}, Settings: settings}
	}
	uses := func(m debug.Module) *debug.BuildInfo {
		m.Path = Path
		return &debug.BuildInfo{Main: debug.Module{Path: "example.com/acme"}, Deps: []*debug.Module{{Path: "example.com/x"}, &m}}
	}
	for _, c := range []struct {
		why, version, ref string
		info              *debug.BuildInfo
	}{
		{"go run ...@v0.1.0", "v0.1.0", "v0.1.0", info(Path, "v0.1.0")},
		{"a candidate has a tag", "v0.1.0-rc.1", "v0.1.0-rc.1", info(Path, "v0.1.0-rc.1")},
		{"go run ...@main", "v0.0.0-20260102150405-0123456789ab", "0123456789ab", info(Path, "v0.0.0-20260102150405-0123456789ab")},
		{"the same behind a tag", "v0.1.1-0.20260102150405-0123456789ab", "0123456789ab", info(Path, "v0.1.1-0.20260102150405-0123456789ab")},
		{"go run in a clone", "", "main", info(Path, "(devel)")},
		{"go build in a clone makes a version up", "", "main",
			info(Path, "v0.1.1-0.20260102150405-0123456789ab", debug.BuildSetting{Key: "vcs.revision", Value: "0123"})},
		{"a program that requires it", "v0.1.0", "v0.1.0", uses(debug.Module{Version: "v0.1.0"})},
		{"a program that replaces it", "", "main", uses(debug.Module{Version: "v0.1.0", Replace: &debug.Module{Path: "../sdk"}})},
		{"a program without it", "", "main", info("example.com/tools", "v1.0.0")},
		{"no build information", "", "main", nil},
	} {
		require.Equal(t, c.version, Version(c.info), c.why)
		require.Equal(t, c.ref, Ref(Version(c.info)), c.why)
	}
	require.Equal(t, "https://github.com/connectorsdk/connector-sdk-go/blob/v0.1.0/docs/checks.md", Page("v0.1.0", "docs/checks.md"))
}
