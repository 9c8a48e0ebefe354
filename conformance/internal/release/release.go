// Package release knows where the library's repository is, and which of its versions a program was built from.
package release

import (
	"runtime/debug"
	"strings"
	"sync"
)

// Path is the path of the library's module.
const Path = "github.com/connectorsdk/connector-sdk-go"

// Version returns the version of the library that a program was built from. It returns
// "" for one that was built in a clone or from a folder: nobody else can fetch that.
func Version(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	if info.Main.Path == Path {
		for _, s := range info.Settings {
			if strings.HasPrefix(s.Key, "vcs") { // a build in a clone, whose version is made up
				return ""
			}
		}
		return fetchable(&info.Main)
	}
	for _, m := range info.Deps {
		if m.Path == Path {
			return fetchable(m)
		}
	}
	return ""
}

// fetchable returns a module's version, or "" if it comes from a folder.
func fetchable(m *debug.Module) string {
	if m.Replace != nil || !strings.HasPrefix(m.Version, "v") || m.Version == "v0.0.0" {
		return ""
	}
	return m.Version
}

// Ref returns what a version is called in the repository: its tag or, if it has none, its
// commit, with which it ends. It is main for no version.
func Ref(version string) string {
	if version == "" {
		return "main"
	}
	if parts := strings.Split(version, "-"); len(parts) > 2 && len(parts[len(parts)-1]) == 12 {
		return parts[len(parts)-1] // v0.0.0-20260102150405-0123456789ab
	}
	return version
}

// Page returns the address of a document of the repository at a version.
func Page(version, file string) string {
	return "https://" + Path + "/blob/" + Ref(version) + "/" + file
}

// Current returns the version of the running program.
var Current = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return Version(info)
})
