package filesource

import "hash/maphash"

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

func (s keySet) has(d digest) bool {
	_, ok := s[d]
	return ok
}

// add reports whether d is new.
func (s keySet) add(d digest) bool {
	before := len(s)
	s[d] = struct{}{}
	return len(s) > before
}
