package message

import (
	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// without returns a message without the members that its schema does not define. It
// returns nil if there are none, or if the text is not strict JSON.
func without(name string, data []byte) []byte {
	c := &copier{Scanner: scan.New(data), data: data}
	c.value(shapes()[name], 0)
	c.End()
	if c.Err() != nil || c.twice || !c.left {
		return nil
	}
	return c.out
}

// copier copies a JSON text and leaves members out.
type copier struct {
	*scan.Scanner
	data  []byte
	out   []byte
	left  bool // a member was left out
	twice bool // an object has an unknown member twice
}

// value copies a value of that shape.
func (c *copier) value(s *shape, depth int) {
	open := c.Peek()
	begin := c.Offset()
	s = s.resolve()
	switch {
	case s == nil || depth > wire.MaxDepth || open != '{' && open != '[':
		c.twice = Skim(c.Scanner, depth) != "" || c.twice
		c.out = append(c.out, c.data[begin:c.Offset()]...)
	case open == '[':
		c.Expect('[')
		c.out = append(c.out, '[')
		for first := true; c.Err() == nil && !c.Skip(']'); first = false {
			if !first {
				c.Expect(',')
				c.out = append(c.out, ',')
			}
			c.value(s.Items, depth+1)
		}
		c.out = append(c.out, ']')
	default:
		c.Expect('{')
		c.out = append(c.out, '{')
		c.members(s, depth)
		c.out = append(c.out, '}')
	}
}

// members copies the members of an object that its shape defines, duplicates
// included, and skips the others.
func (c *copier) members(s *shape, depth int) {
	var skipped map[string]bool
	kept := false
	for first := true; c.Err() == nil && !c.Skip('}'); first = false {
		if !first {
			c.Expect(',')
		}
		c.Peek()
		begin := c.Offset()
		name := c.String()
		c.Expect(':')
		part, known := s.Properties[name]
		if !known && s.closed {
			c.twice = skipped[name] || Skim(c.Scanner, depth+1) != "" || c.twice
			if skipped == nil {
				skipped = map[string]bool{}
			}
			skipped[name], c.left = true, true
			continue
		}
		if !known {
			part = s.others
		}
		if kept {
			c.out = append(c.out, ',')
		}
		kept = true
		c.out = append(c.out, c.data[begin:c.Offset()]...)
		c.value(part, depth+1)
	}
}
