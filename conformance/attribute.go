package conformance

import "fmt"

// attribute names, for each blocked check, the failed check that prevented it from running,
// so that every fault is reported by a check that failed. A check that says to be blocked by
// one that did not fail, or was not planned, has found the fault itself: it fails. Those that
// name the same check after it are blocked by it.
func attribute(outcomes []Outcome) {
	index := make(map[string]int, len(outcomes))
	for i := range outcomes {
		index[outcomes[i].ID] = i
	}
	// root follows a chain of blocked checks to the check at its end.
	root := func(id string) string {
		for range outcomes {
			i, planned := index[id]
			if !planned || outcomes[i].Reason != Blocked {
				break
			}
			id = outcomes[i].BlockedBy
		}
		return id
	}
	finders := map[string]string{}
	for i := range outcomes {
		o := &outcomes[i]
		if o.Reason != Blocked {
			continue
		}
		by := root(o.BlockedBy)
		at, planned := index[by]
		switch {
		case planned && outcomes[at].Verdict == Fail:
		case finders[by] != "":
			by = finders[by]
		case !o.Advice:
			finders[by] = o.ID
			o.Verdict, o.Reason, o.BlockedBy, o.Failed = Fail, "", "", 1
			continue
		}
		o.BlockedBy, o.Request = by, nil
		o.Detail = fmt.Sprintf("by %s: %s", by, o.Detail)
	}
}
