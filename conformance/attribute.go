package conformance

import "fmt"

// attribute gives every fault to the check whose rule it breaks. A check that is blocked by
// one that passed has found the other's fault: the other fails with it. If the other is not
// planned or cannot fail, the finder fails itself, and those that name the same check after it
// are blocked by the finder. Each blocked check names the failed one that prevented it from
// running.
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
			id = outcomes[i].blockedBy
		}
		return id
	}
	finders := map[string]string{}
	for i := range outcomes {
		o := &outcomes[i]
		if o.Reason != Blocked {
			continue
		}
		by := root(o.blockedBy)
		at, planned := index[by]
		switch {
		case planned && outcomes[at].Verdict == Fail:
		case planned && outcomes[at].Verdict == Pass && !outcomes[at].Advice && !o.Advice:
			cause := &outcomes[at]
			cause.Verdict, cause.Failed, cause.Detail = Fail, 1, o.Detail
			cause.Expected, cause.Received, cause.Request = o.Expected, o.Received, o.Request
		case finders[by] != "":
			by = finders[by]
		case !o.Advice:
			finders[by] = o.ID
			o.Verdict, o.Reason, o.blockedBy, o.Failed = Fail, "", "", 1
			continue
		}
		o.blockedBy, o.Request, o.Expected, o.Received = by, nil, "", ""
		o.Detail = fmt.Sprintf("by %s: %s", by, o.Detail)
	}
}
