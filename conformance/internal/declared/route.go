package declared

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// name returns what endpoints calls a route.
func name(path string) string { return strings.TrimPrefix(path, "/") }

// Offers reports whether the document offers a route: the optional ones have to be listed.
func (d *Document) Offers(path string) bool {
	r := routes.At(path)
	return r != nil && (r.Always || slices.Contains(d.Endpoints, wire.Endpoint(name(path))))
}

// Paths returns the paths of the routes that the document offers, or of those that it does not.
func (d *Document) Paths(offered bool) (paths []string) {
	for _, r := range routes.All {
		if d.Offers(r.Path) == offered {
			paths = append(paths, r.Path)
		}
	}
	return paths
}
