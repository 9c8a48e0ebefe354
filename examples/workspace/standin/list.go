package standin

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// listOf filters, sorts and cuts the items of a list as the query asks. Filters
// are query parameters named after fields, and created_after or updated_after.
// Other parameters are ignored.
func listOf[T any](c *call, items []T) (*listPage, error) {
	limit, err := c.intParam("limit", 20, 1, 100)
	if err != nil {
		return nil, err
	}
	offset, err := c.intParam("offset", 0, 0, -1)
	if err != nil {
		return nil, err
	}
	all := make([]row, len(items))
	fields := fieldsOf(reflect.TypeFor[T]())
	for i, item := range items {
		if all[i].raw, err = json.Marshal(item); err == nil {
			err = json.Unmarshal(all[i].raw, &all[i].members)
		}
		if err != nil {
			return nil, err
		}
		for name := range all[i].members {
			fields[name] = true
		}
	}
	if all, err = c.filter(all, fields); err != nil {
		return nil, err
	}
	if err := c.sort(all, fields); err != nil {
		return nil, err
	}
	total := len(all)
	if c.whole {
		limit, offset = total, 0
	}
	start := min(offset, total)
	end := min(start+limit, total)
	result := &listPage{Data: []json.RawMessage{}, Pagination: pagination{total, limit, offset, end < total}}
	for _, r := range all[start:end] {
		result.Data = append(result.Data, r.raw)
	}
	return result, nil
}

// row is one item of a list and its members.
type row struct {
	raw     json.RawMessage
	members map[string]any
}

// fieldsOf returns the names that the type shows, also those that an item may omit.
func fieldsOf(t reflect.Type) map[string]bool {
	fields := map[string]bool{}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			fields[memberName(t.Field(i))] = true
		}
	}
	return fields
}

// filter keeps the items that every filter of the query selects.
func (c *call) filter(items []row, fields map[string]bool) ([]row, error) {
	keep := items
	for name := range c.query {
		value := c.query.Get(name)
		var selected func(row) bool
		before, isAfter := strings.CutSuffix(name, "_after")
		switch {
		case isAfter && fields[before+"_at"]:
			bound, err := parseDate(value)
			if err != nil {
				return nil, invalid(name, "%s must be a date.", name)
			}
			selected = func(r row) bool {
				text, _ := r.members[before+"_at"].(string)
				at, err := time.Parse(time.RFC3339, text)
				return err == nil && at.After(bound)
			}
		case fields[name]:
			selected = func(r row) bool { v, ok := r.members[name]; return ok && text(v) == value }
		default:
			continue
		}
		keep = slices.DeleteFunc(slices.Clone(keep), func(r row) bool { return !selected(r) })
	}
	return keep, nil
}

// sort orders the items by the field that the query names, or leaves them in the
// order in which they were created.
func (c *call) sort(items []row, fields map[string]bool) error {
	if !c.query.Has("sort") {
		return nil
	}
	name, descending := strings.CutPrefix(c.query.Get("sort"), "-")
	if !fields[name] {
		return invalid("sort", "The list has no field to sort by with this name.")
	}
	slices.SortStableFunc(items, func(a, b row) int {
		order := compare(a.members[name], b.members[name])
		if descending {
			return -order
		}
		return order
	})
	return nil
}

// compare orders numbers by value and everything else by its text.
func compare(a, b any) int {
	x, isNumber := a.(float64)
	y, both := b.(float64)
	if isNumber && both {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(text(a), text(b))
}

// text spells a scalar as a query does. Objects, arrays and null are empty.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// intParam reads an integer of the query. A negative highest means no bound.
func (c *call) intParam(name string, otherwise, lowest, highest int) (int, error) {
	if !c.query.Has(name) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(c.query.Get(name))
	if err != nil || n < lowest || highest >= 0 && n > highest {
		return 0, invalid(name, "%s is not within its bounds.", name)
	}
	return n, nil
}

// boolParam reads a boolean of the query, false if it is missing.
func (c *call) boolParam(name string) (bool, error) {
	switch value := c.query.Get(name); {
	case value == "true":
		return true, nil
	case value == "false" || !c.query.Has(name):
		return false, nil
	}
	return false, invalid(name, "%s must be true or false.", name)
}

// containing keeps the items whose text contains the given query parameter.
func containing[T any](c *call, param string, items []T, text func(T) string) []T {
	wanted := c.query.Get(param)
	return slices.DeleteFunc(slices.Clone(items), func(item T) bool { return !strings.Contains(text(item), wanted) })
}

// parseDate reads a date, or a timestamp, in UTC.
func parseDate(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, text)
}

// stamp spells a time as the API does.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
