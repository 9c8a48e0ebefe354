package wire

// nameSet finds duplicates. It compares a few names one by one and hashes many,
// so that no choice of names makes it slow.
type nameSet struct {
	few  []string
	many map[string]struct{}
}

// add adds name and reports whether it is new.
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
