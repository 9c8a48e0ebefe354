package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
)

// A key is checked in as many readings of the file as its rows need, each of
// which holds one part of the digests. So the check takes the same memory for
// a thousand rows and for millions.
const (
	keysPerReading = 1 << 19 // 16 MiB at most
	maxReadings    = 32
)

// readings is the number of readings for so many keys; ok is false when they
// are too many to be worth it.
func readings(keys int64) (n uint64, ok bool) {
	n = uint64(keys)/keysPerReading + 1
	return n, n <= maxReadings
}

// opener opens a table's rows from the start, of which only some columns are
// wanted.
type opener func(only ...int) (*rows, error)

// tooLarge is the problem of a key that is not checked.
const tooLarge = "the table is too large for it to be checked"

// checkUnique reads all rows and tells what keeps the columns from being a
// key: a null or a duplicate. An empty problem means that they are one. Nulls
// are no duplicates of each other; they break a key only if it may have none.
func checkUnique(columns []column, key []int, nullsAllowed bool, count int64, open opener) (problem string, err error) {
	parts, ok := readings(count)
	if !ok {
		return tooLarge, nil
	}
	var seen keySet
	var buf []byte
	for part := range parts {
		seen.clear()
		all, err := open(key...)
		if err != nil {
			return "", err
		}
		for {
			values, err := all.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return "", err
			}
			buf = buf[:0]
			null := false
			for _, i := range key {
				null = null || values[i].IsNull()
				buf = filter.AppendKey(buf, values[i], columns[i].typ)
			}
			if null {
				if !nullsAllowed {
					return fmt.Sprintf("line %d has no value in it", all.line()), nil
				}
				continue
			}
			if d := digestOf(buf); d.part(parts) == part && !seen.add(d) {
				return fmt.Sprintf("line %d repeats an earlier value", all.line()), nil
			}
		}
	}
	return "", nil
}

// declaredKeys are the keys of a sidecar that hold in the data.
type declaredKeys struct {
	primary []string
	unique  []string
}

// checkKeys checks the primary key and the unique fields.
func checkKeys(side *sidecar, columns []column, count int64, open opener) (k declaredKeys, warnings []string, err error) {
	if side == nil {
		return k, nil, nil
	}
	check := func(what string, fields []string, nullsAllowed bool) (holds bool, err error) {
		if len(fields) == 0 {
			return false, nil
		}
		var key []int
		problem := ""
		for _, name := range fields {
			i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
			if i < 0 {
				problem = fmt.Sprintf("there is no field %q", name)
				break
			}
			key = append(key, i)
		}
		if problem == "" {
			if problem, err = checkUnique(columns, key, nullsAllowed, count, open); err != nil {
				return false, err
			}
		}
		if problem != "" {
			warnings = append(warnings, fmt.Sprintf("%s: %s %s is not declared: %s", side.file, what, strings.Join(fields, ", "), problem))
		}
		return problem == "", nil
	}
	if ok, err := check("primary key", side.PrimaryKey, false); err != nil {
		return k, nil, err
	} else if ok {
		k.primary = side.PrimaryKey
	}
	for _, field := range side.Unique {
		if ok, err := check("unique field", []string{field}, true); err != nil {
			return k, nil, err
		} else if ok {
			k.unique = append(k.unique, field)
		}
	}
	return k, warnings, nil
}
