package conformance

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
)

// What the tests name, and the package does not export.
const (
	ExitPass   = check.ExitPass
	ExitFail   = check.ExitFail
	ExitNotRun = check.ExitNotRun

	EnvToken        = check.EnvToken
	EnvCredentials  = check.EnvCredentials
	EnvCredentials2 = check.EnvCredentials2
)

type (
	Coverage      = coverage.Report
	TableCoverage = coverage.Table
	FieldCoverage = coverage.Field
	Counts        = coverage.Counts
	KindCoverage  = coverage.KindCount
	Question      = coverage.Question
	Basis         = coverage.Basis
)

// Coverage returns what the run has asked for.
func (r *Report) Coverage() *Coverage { return &r.coverage }

// Refusing returns the outcome of a check that found that the connector refuses what the
// run was given.
func Refusing(o Outcome, sentence string) Outcome {
	o.refused = sentence
	return o
}

// Block returns an outcome that the failure of another check prevented.
func Block(o Outcome, by string) Outcome {
	o.blockedBy = by
	return o
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

// Retired holds the ids of checks whose requests another check sends.
var Retired = retired
