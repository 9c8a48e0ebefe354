package conformance

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
)

// What the tests name, and the package does not export.
const (
	ExitPass   = check.ExitPass
	ExitFail   = check.ExitFail
	ExitNotRun = check.ExitNotRun

	EnvToken        = check.EnvToken
	EnvCredentials  = check.EnvCredentials
	EnvCredentials2 = check.EnvCredentials2

	DefaultRequests = defaults.Requests
	DefaultTimeout  = defaults.Timeout
	DefaultSeed     = defaults.Seed
)

type (
	Coverage      = session.Coverage
	TableCoverage = session.TableCoverage
	FieldCoverage = session.FieldCoverage
	Counts        = session.Counts
	KindCoverage  = session.KindCoverage
	Question      = session.Question
	Basis         = session.Basis
)

// Coverage returns what the run has asked for.
func (r *Report) Coverage() *Coverage { return &r.coverage }

// Refusing returns the outcome of a check that found that the connector refuses what the
// run was given.
func Refusing(o Outcome, sentence string) Outcome {
	o.refused = sentence
	return o
}

// Outcome returns the outcome of a check, or nil if it was not planned.
func (r *Report) Outcome(id string) *Outcome {
	for i := range r.Outcomes {
		if r.Outcomes[i].ID == id {
			return &r.Outcomes[i]
		}
	}
	return nil
}

// Checks returns the checks of all modes.
func Checks() []Check {
	all, err := (&Options{Mode: ModeBoth}).Checks()
	if err != nil {
		panic(err)
	}
	return all
}

// Find returns the check with an id, whatever its case, or nil.
func Find(id string) *Check {
	for _, c := range Checks() {
		if strings.EqualFold(c.ID, id) {
			return &c
		}
	}
	return nil
}

// Link returns where to read on about a check.
func (c *Check) Link() string { return c.url() }

// In returns the modes in which a check runs.
func (c *Check) In() []Mode { return c.modes() }

// PhaseName returns the heading of a phase.
func PhaseName(phase int) string { return phaseName(phase) }
