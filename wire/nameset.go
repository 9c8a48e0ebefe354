package wire

// nameSet finds duplicates. A few names are compared one by one, many are
// hashed: neither is slow, whoever chose them.
type nameSet struct {
	few  []string
	many map[string]struct{}
}

// add reports whether name is new.
func (s *nameSet) add(name string) bool {
	if s.many == nil {
		for _, n := range s.few {
			if n == name {
				return false
			}
		}
		if s.few = append(s.few, name); len(s.few) > 16 {
			s.many = make(map[string]struct{}, 64)
			for _, n := range s.few {
				s.many[n] = struct{}{}
			}
		}
		return true
	}
	if _, found := s.many[name]; found {
		return false
	}
	s.many[name] = struct{}{}
	return true
}

// has reports whether name was added.
func (s *nameSet) has(name string) bool {
	if s.many != nil {
		_, found := s.many[name]
		return found
	}
	for _, n := range s.few {
		if n == name {
			return true
		}
	}
	return false
}
