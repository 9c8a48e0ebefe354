package check

import "reflect"

// Family gives checks, or rows of which checks are made, what they have in common: each exported
// field that a member leaves at its zero value.
func Family[T any](common T, members []T) []T {
	all := reflect.ValueOf(common)
	for i := range members {
		own := reflect.ValueOf(&members[i]).Elem()
		for n := range own.NumField() {
			if field := own.Field(n); field.CanSet() && field.IsZero() {
				field.Set(all.Field(n))
			}
		}
	}
	return members
}
