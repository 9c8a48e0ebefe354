package filesource

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A key is checked in as many readings of the file as its rows need. Each
// reading holds one part of the digests, so the check takes the same memory for
// a thousand rows and for millions.
const (
	keysPerReading = 1 << 19 // 16 MiB at most
	maxReadings    = 32
)

// tooLarge is the problem of a key with more rows than readings allow.
const tooLarge = "the table is too large for it to be checked"

// readings returns the number of readings for so many keys. ok is false if there
// are too many.
func readings(keys int64) (n uint64, ok bool) {
	n = uint64(keys)/keysPerReading + 1
	return n, n <= maxReadings
}

// opener opens a table's rows from the start and reads the given columns.
type opener func(only ...int) (*rows, error)

// checkUnique reads all rows and returns why the columns are no key: a null or a
// duplicate. The problem is empty if they are one. Nulls do not repeat each
// other; they break a key only if it may have none.
func checkUnique(columns []column, key []int, nullsAllowed bool, count int64, open opener) (problem string, err error) {
	parts, ok := readings(count)
	if !ok {
		return tooLarge, nil
	}
	seen := keySet{}
	var buf []byte
	for part := range parts {
		clear(seen)
		rows, err := open(key...)
		if err != nil {
			return "", err
		}
		for values, err := range rows.all() {
			if err != nil {
				return "", err
			}
			buf = buf[:0]
			null := false
			for _, i := range key {
				null = null || values[i].IsNull()
				buf = filter.AppendKey(buf, values[i], columns[i].typ)
			}
			if null && !nullsAllowed {
				return fmt.Sprintf("line %d has no value in it", rows.Line()), nil
			}
			if d := digestOf(buf); !null && d.part(parts) == part && !seen.add(d) {
				return fmt.Sprintf("line %d repeats an earlier value", rows.Line()), nil
			}
		}
	}
	return "", nil
}

// declaredKeys are the keys of a sidecar that the data confirms.
type declaredKeys struct {
	primary []string
	unique  []string
}

// checkKeys checks the primary key and the unique fields.
func checkKeys(side *textfile.Sidecar, columns []column, count int64, open opener) (k declaredKeys, warnings []string, err error) {
	if side == nil {
		return k, nil, nil
	}
	check := func(what string, fields []string, nullsAllowed bool) (holds bool, err error) {
		var key []int
		problem := ""
		for _, name := range fields {
			i := fieldIndex(columns, name)
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
			warnings = append(warnings, fmt.Sprintf("%s: %s %s is not declared: %s", side.File, what, strings.Join(fields, ", "), problem))
		}
		return problem == "", nil
	}
	if len(side.PrimaryKey) > 0 {
		holds, err := check("primary key", side.PrimaryKey, false)
		if err != nil {
			return k, nil, err
		}
		if holds {
			k.primary = side.PrimaryKey
		}
	}
	for _, field := range side.Unique {
		holds, err := check("unique field", []string{field}, true)
		if err != nil {
			return k, nil, err
		}
		if holds {
			k.unique = append(k.unique, field)
		}
	}
	return k, warnings, nil
}

// linkEnd is one side of a foreign key.
type linkEnd struct {
	rows  int64
	field int
	typ   wire.Type
	open  opener
}

// checkLink reads both sides and returns why from is no foreign key to to:
// values of from that to does not have. The problem is empty if from is a foreign key.
func checkLink(from, to linkEnd) (problem string, err error) {
	parts, ok := readings(to.rows)
	if !ok {
		return tooLarge, nil
	}
	// Keys are numbers if both sides are numeric, else text [rule measure-2b].
	typ := wire.TypeString
	if from.typ.Numeric() && to.typ.Numeric() {
		typ = wire.TypeDecimal
	}
	targets := keySet{}
	var values, orphans int64
	first := 0
	for part := range parts {
		clear(targets)
		err := to.each(typ, func(d digest, _ int) {
			if d.part(parts) == part {
				targets.add(d)
			}
		})
		if err != nil {
			return "", err
		}
		err = from.each(typ, func(d digest, line int) {
			if d.part(parts) != part {
				return
			}
			values++
			if _, ok := targets[d]; !ok {
				if orphans++; first == 0 || line < first {
					first = line
				}
			}
		})
		if err != nil {
			return "", err
		}
	}
	if orphans > 0 {
		return fmt.Sprintf("%d of %d values are not there, the first on line %d", orphans, values, first), nil
	}
	return "", nil
}

// each visits the values that are not null.
func (e linkEnd) each(typ wire.Type, visit func(d digest, line int)) error {
	rows, err := e.open(e.field)
	if err != nil {
		return err
	}
	var buf []byte
	for values, err := range rows.all() {
		if err != nil {
			return err
		}
		if v := values[e.field]; !v.IsNull() {
			buf = filter.AppendKey(buf[:0], v, typ)
			visit(digestOf(buf), rows.Line())
		}
	}
	return nil
}

// digest stands for a key. It is two 64-bit hashes under seeds of this process:
// among a billion keys, two meet by accident with a chance of about 1 in 10^21.
type digest [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestOf(key []byte) digest {
	return digest{maphash.Bytes(seeds[0], key), maphash.Bytes(seeds[1], key)}
}

// part returns which of so many parts the digest belongs to.
func (d digest) part(of uint64) uint64 { return d[1] % of }

// keySet is a set of digests.
type keySet map[digest]struct{}

// add reports whether d is new.
func (s keySet) add(d digest) bool {
	before := len(s)
	s[d] = struct{}{}
	return len(s) > before
}
