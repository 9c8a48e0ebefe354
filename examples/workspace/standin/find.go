package standin

import "slices"

// find returns the object with an id, or an error that says what there is not.
func find[T any](list []T, id, what string, idOf func(T) string) (T, error) {
	i := slices.IndexFunc(list, func(item T) bool { return idOf(item) == id })
	if i < 0 {
		var none T
		return none, notFound(what)
	}
	return list[i], nil
}

// without returns the list without an object.
func without[T comparable](list []T, object T) []T {
	return slices.DeleteFunc(list, func(other T) bool { return other == object })
}

// on returns the handler of a route whose path names an object: it finds the object
// first.
func on[T any](find func(*call) (T, error), handle func(*call, T) (any, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		object, err := find(c)
		if err != nil {
			return nil, err
		}
		return handle(c, object)
	}
}

// own returns the handler of a route below an organization, which must be the
// caller's.
func own(handle func(*call) (any, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		if _, err := c.ownOrganization(); err != nil {
			return nil, err
		}
		return handle(c)
	}
}
