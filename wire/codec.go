package wire

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// codec reads and writes one kind of JSON value.
type codec[V any] struct {
	read  func(d *decoder, p *V)
	write func(e *encoder, p *V)
	empty func(p *V) bool // reports whether an optional member is left out
}

func isZero[V comparable](p *V) bool { return *p == *new(V) }

// Strings.
var (
	text  = textOf((*decoder).text)
	label = textOf((*decoder).label) // not empty
)

func textOf(read func(*decoder) string) codec[string] {
	return codec[string]{
		read:  func(d *decoder, p *string) { *p = read(d) },
		write: func(e *encoder, p *string) { e.string(*p) },
		empty: isZero[string],
	}
}

// oneOf returns the codec of the protocol's own words.
func oneOf[W ~string](words ...W) codec[W] {
	return codec[W]{
		read: func(d *decoder, p *W) {
			word := W(d.text())
			if i := slices.Index(words, word); i >= 0 {
				*p = words[i] // and not word, which keeps the whole body in memory
				return
			}
			if d.ok() {
				list := make([]string, len(words))
				for i, w := range words {
					list[i] = string(w)
				}
				d.fail("must be one of " + strings.Join(list, ", "))
			}
		},
		write: func(e *encoder, p *W) { e.string(string(*p)) },
		empty: isZero[W],
	}
}

// Scalars and numbers.
var (
	boolean = codec[bool]{
		read:  func(d *decoder, p *bool) { *p = d.boolean() },
		write: func(e *encoder, p *bool) { e.bool(*p) },
		empty: isZero[bool],
	}
	scalar = codec[Value]{
		read:  func(d *decoder, p *Value) { *p = d.scalar() },
		write: func(e *encoder, p *Value) { e.value(*p) },
	}
	scalars = list(scalar)
	operand = codec[Value]{
		read:  func(d *decoder, p *Value) { *p = d.operand() },
		write: func(e *encoder, p *Value) { e.value(*p) },
	}
	operands     = list(operand)
	texts        = list(text)
	count        = integer[int64](0, terms.MaxSafeInteger) // of rows or values
	positive     = integer[int64](1, terms.MaxSafeInteger)
	milliseconds = positive
)

func integer[N int | int64](least, most int64) codec[N] {
	return codec[N]{
		read:  func(d *decoder, p *N) { *p = N(d.integer(least, most)) },
		write: func(e *encoder, p *N) { e.int(int64(*p)) },
		empty: isZero[N],
	}
}

func number(least, most float64) codec[float64] {
	problem := "must be a number from " + strconv.FormatFloat(least, 'f', -1, 64) +
		" to " + strconv.FormatFloat(most, 'f', -1, 64)
	return codec[float64]{
		read:  func(d *decoder, p *float64) { *p = d.number(least, most, problem) },
		write: func(e *encoder, p *float64) { e.number(*p) },
	}
}

// list returns the codec of an array.
func list[V any](c codec[V]) codec[[]V] {
	least := max(2, 128/int(unsafe.Sizeof(*new(V)))) // elements to make room for
	return codec[[]V]{
		read: func(d *decoder, p *[]V) {
			for a := d.array(); a.next(); {
				if *p == nil {
					*p = make([]V, 0, least)
				}
				*p = append(*p, *new(V))
				c.read(d, &(*p)[len(*p)-1])
			}
		},
		write: func(e *encoder, p *[]V) {
			e.open('[')
			for i := range *p {
				e.item(i)
				c.write(e, &(*p)[i])
			}
			e.close(']')
		},
		empty: func(p *[]V) bool { return len(*p) == 0 },
	}
}

// mapOf returns the codec of an object whose names are the sender's own. The
// path of an error does not show them: they are text of the message.
func mapOf[V any](c codec[V]) codec[map[string]V] {
	return codec[map[string]V]{
		read: func(d *decoder, p *map[string]V) {
			*p = make(map[string]V, 4)
			v := new(V)
			for entries := d.entries(); entries.next(); {
				if _, found := (*p)[entries.name]; found {
					entries.duplicate()
					return
				}
				*v = *new(V)
				c.read(d, v)
				(*p)[entries.name] = *v
			}
		},
		write: func(e *encoder, p *map[string]V) {
			v := new(V)
			e.open('{')
			for _, name := range slices.Sorted(maps.Keys(*p)) {
				e.entry(name)
				*v = (*p)[name]
				c.write(e, v)
			}
			e.close('}')
		},
		empty: func(p *map[string]V) bool { return len(*p) == 0 },
	}
}

// pointer returns the codec of a value that may be unknown. An optional member
// is left out when it is.
func pointer[V any](c codec[V]) codec[*V] {
	return codec[*V]{
		read: func(d *decoder, p **V) {
			*p = new(V)
			c.read(d, *p)
		},
		write: func(e *encoder, p **V) { c.write(e, *p) },
		empty: isZero[*V],
	}
}

// nullable returns the codec of a value that is written as null when it is nil.
func nullable[V any](c codec[V]) codec[*V] {
	known := pointer(c)
	return codec[*V]{
		read: func(d *decoder, p **V) {
			if !d.null() {
				known.read(d, p)
			}
		},
		write: func(e *encoder, p **V) {
			if *p == nil {
				e.null()
				return
			}
			known.write(e, p)
		},
	}
}

// The most that credentials may hold [rule credential-10]: a form has a few fields,
// and a key file in one of them some kilobytes.
const (
	maxCredentials     = 256
	maxCredentialBytes = 1 << 20 // of keys and values
)

// credentialMap is the codec of a flat object of strings. The map goes straight
// into its closure.
var credentialMap = codec[Credentials]{
	read: func(d *decoder, p *Credentials) {
		own := make(map[string]string, 4)
		size := 0
		for entries := d.entries(); entries.next(); {
			if _, found := own[entries.name]; found {
				entries.duplicate()
				return
			}
			if !d.want('"', "every value must be a string") {
				return
			}
			value := d.s.String()
			own[entries.name] = value
			if size += len(entries.name) + len(value); len(own) > maxCredentials || size > maxCredentialBytes {
				d.fail("at most 256 members and 1 MiB of keys and values; send only the fields of the document")
				return
			}
		}
		*p = hold(own)
	},
	write: func(e *encoder, p *Credentials) {
		values := p.all()
		textMap.write(e, &values)
	},
}

var textMap = mapOf(text)
