package session

import "slices"

// Turn swaps the accounts: checks then ask the second one, and use nothing that was learned about the
// rows of the first. The checks share the requests that the second account has left. A second call swaps
// them back.
func (s *Session) Turn(checks []Check) {
	slices.Reverse(s.Tenants)
	slices.Reverse(s.discovered)
	s.turned = !s.turned
	s.snapshots, s.otherSnapshots = s.otherSnapshots, s.snapshots
	s.Lost, s.otherLost = s.otherLost, s.Lost
	s.Covered.Turn()
	s.budget.second.ahead, s.budget.second.later = nil, 0
	for i := range checks {
		if s.applies(&checks[i]) {
			s.budget.second.ahead = append(s.budget.second.ahead, &checks[i])
		}
	}
}
