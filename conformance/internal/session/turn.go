package session

import "slices"

// Turn makes the second account the one that checks ask first, as the first was, with nothing of what was
// learned about the other's rows. The checks share the requests that the second account has left. Called
// again, it turns back.
func (s *Session) Turn(checks []Check) {
	slices.Reverse(s.Tenants)
	slices.Reverse(s.discovered)
	s.turned = !s.turned
	s.snapshots, s.otherSnapshots = s.otherSnapshots, s.snapshots
	s.Covered.heard, s.otherHeard = s.otherHeard, s.Covered.heard
	s.budget.second.ahead = nil
	for i := range checks {
		if s.applies(&checks[i]) {
			s.budget.second.ahead = append(s.budget.second.ahead, &checks[i])
		}
	}
}
