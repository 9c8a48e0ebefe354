package session

import (
	"cmp"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
)

// Merge returns the check c of several parts, its facets, which run in their order and may each fail. What the
// document excludes for one facet is skipped; the check is skipped if all of them are. A facet says what it is
// about in Facet, and in Was the id that it had as a check of its own, which is retired: no other check may have it.
func Merge(c Check, facets []Check) Check {
	c.Facets = facets
	needed := true
	for i := range facets {
		f := &facets[i]
		f.ID, f.Phase = c.ID, c.Phase
		c.Weight, c.Least = c.Weight+f.wants(), c.Least+f.least()
		needed = needed && f.Needs != nil
		for _, rule := range f.Rules {
			if !slices.Contains(c.Rules, rule) {
				c.Rules = append(c.Rules, rule)
			}
		}
	}
	if c.Watched {
		c.Weight, c.Least = 0, 0
	}
	if needed {
		c.Needs = func(d *declared.Document) (why string) {
			for i := range facets {
				if why = facets[i].Needs(d); why == "" {
					break
				}
			}
			return why
		}
	}
	c.Judge = func(run *Run) *check.Finding { return run.judgeFacets(facets) }
	return c
}

// judgeFacets judges one facet after the other, each with its part of the requests. The finding names every facet that
// failed, those first of whose cases the most failed: a fault spoils all of its own facet, and some of others. It is about
// the first of them.
func (run *Run) judgeFacets(facets []Check) *check.Finding {
	type failure struct {
		*check.Finding
		share float64
	}
	var failures []failure
	var failed, blocked, skipped *check.Finding
	cases, passed := 0, false
	left := 0 // what the facets from here on want
	excluded := make([]string, len(facets))
	for i := range facets {
		if needs := facets[i].Needs; needs != nil {
			excluded[i] = needs(run.Document)
		}
		if excluded[i] == "" {
			left += facets[i].wants()
		}
	}
	defer func() { run.reserved = 0 }()
	for i := range facets {
		facet := &facets[i]
		if why := run.Stop(); i > 0 && why != "" {
			skipped, passed = check.Skip(check.NotReached, "%s", why), false
			break
		}
		if why := excluded[i]; why != "" {
			skipped = cmp.Or(skipped, check.Skip(check.NotDeclared, "%s", why))
			continue
		}
		run.reserve(left-facet.wants(), left)
		left -= facet.wants()
		run.Cases = 0
		f := run.finalize(facet.Judge(run))
		cases += run.Cases
		switch {
		case f == nil:
			passed = true
		case f.Failure():
			f.Fix = cmp.Or(f.Fix, facet.Fix)
			if f.Facets == nil {
				f.Facets = []string{facet.Facet}
			}
			if f.Rules == nil {
				f.Rules = facet.Rules
			}
			failures = append(failures, failure{f, float64(f.Failed) / float64(max(run.Cases, 1))})
		case f.Skip == check.Blocked:
			blocked = cmp.Or(blocked, f)
		case skipped == nil || skipped.Skip == check.NotDeclared:
			skipped = f
		}
	}
	run.Cases = cases
	slices.SortStableFunc(failures, func(a, b failure) int { return cmp.Compare(b.share, a.share) })
	for _, f := range failures {
		failed = failed.And(f.Finding)
	}
	if passed {
		skipped = nil
	}
	return cmp.Or(failed, blocked, skipped)
}
