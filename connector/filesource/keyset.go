package filesource

import "hash/maphash"

// digest stands for a key. It is two 64-bit hashes under seeds of this process:
// among a billion keys, two meet by accident with a chance of about 1 in 10^21.
type digest [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestOf(key []byte) digest {
	d := digest{maphash.Bytes(seeds[0], key), maphash.Bytes(seeds[1], key)}
	d[1] |= 1 // never the empty slot
	return d
}

// part returns which of so many parts the digest belongs to. It uses other bits
// than the slot, so that each part fills all slots evenly.
func (d digest) part(of uint64) uint64 { return d[1] >> 1 % of }

// keySet is a set of digests, 16 bytes a slot, at most three quarters full.
// The zero keySet is empty.
type keySet struct {
	slots []digest // a power of two of them
	n     int
}

// slot returns the slot that holds d, or the empty one where d would go.
func (s *keySet) slot(d digest) int {
	mask := len(s.slots) - 1
	i := int(d[0]) & mask
	for s.slots[i] != (digest{}) && s.slots[i] != d {
		i = (i + 1) & mask
	}
	return i
}

func (s *keySet) has(d digest) bool {
	return len(s.slots) > 0 && s.slots[s.slot(d)] == d
}

// add reports whether d is new.
func (s *keySet) add(d digest) bool {
	if s.has(d) {
		return false
	}
	if s.n >= len(s.slots)/4*3 {
		s.grow()
	}
	s.slots[s.slot(d)] = d
	s.n++
	return true
}

func (s *keySet) grow() {
	old := s.slots
	s.slots = make([]digest, max(16, 2*len(old)))
	for _, d := range old {
		if d != (digest{}) {
			s.slots[s.slot(d)] = d
		}
	}
}

// clear empties the set and keeps its memory.
func (s *keySet) clear() {
	clear(s.slots)
	s.n = 0
}
