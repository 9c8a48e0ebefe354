package conformance

import "strings"

// Checks are those that a run with these options plans, in order. The error
// says what is wrong with the options, as that of [Run] would.
func (o Options) Checks() ([]Check, error) {
	p, err := o.plan()
	if err != nil {
		return nil, err
	}
	return p.checks, nil
}

// Find is the check with that id, whatever its case; nil when there is none.
func Find(id string) *Check {
	for _, c := range Checks() {
		if strings.EqualFold(c.ID, id) {
			return &c
		}
	}
	return nil
}

// Modes are those in which the check is run.
func (c *Check) Modes() (modes []Mode) {
	for _, m := range []Mode{ModeFixture, ModeLive, ModeBoth} {
		for _, phase := range m.phases() {
			if phase == c.Phase {
				modes = append(modes, m)
			}
		}
	}
	return modes
}

// Explain is what there is to say of a check, for a terminal.
func (c *Check) Explain() string {
	t := &text{}
	t.line(c.ID + "  " + c.Title)
	t.line("")
	modes := make([]string, 0, 3)
	for _, m := range c.Modes() {
		modes = append(modes, string(m))
	}
	t.prose("  phase    ", phaseName(c.Phase)+" (mode "+strings.Join(modes, ", ")+")")
	t.prose("  rule     ", c.Rule)
	if c.Quote != "" {
		t.prose("  quote    ", "“"+c.Quote+"”")
	}
	t.prose("  fix      ", c.Fix)
	if c.Advice {
		t.prose("  verdict  ", "advice: the protocol's text does not state this rule, so breaking it changes no exit code")
	} else {
		t.prose("  verdict  ", "a connector that breaks it is not conformant")
	}
	return t.b.String()
}
