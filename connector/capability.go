package connector

import (
	"errors"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// capabilities are the optional interfaces of a source; nil where it lacks the
// method or the host omits it.
type capabilities struct {
	describer   Describer
	sizer       Sizer
	counter     Counter
	aggregator  Aggregator
	dateBucket  bool // aggregator accepts grains
	cardinality CardinalityMeasurer
	links       LinkMeasurer
	joiner      Joiner
	sql         SQLQuerier
	dialect     string // the answer of sql.Dialect

	routes []optionalRoute // that are served
}

// capable returns the capabilities that the methods of a source give, without
// those that are omitted.
func capable(src Source, omit Omit) (c capabilities, faults []error) {
	c.describer, _ = src.(Describer)
	c.joiner, _ = src.(Joiner)
	c.sql, _ = src.(SQLQuerier)
	for _, r := range optionalRoutes {
		if !slices.Contains(omit.Endpoints, r.endpoint) && r.offer(&c, src) {
			c.routes = append(c.routes, r)
		}
	}
	for i, e := range omit.Endpoints {
		if !slices.ContainsFunc(optionalRoutes, func(r optionalRoute) bool { return r.endpoint == e }) {
			faults = append(faults, fmt.Errorf("options.omit.endpoints[%d]: no optional endpoint has this name", i))
		}
	}
	for i, op := range omit.Operators {
		if terms.ShapeOf(op) == terms.ShapeUnknown {
			faults = append(faults, fmt.Errorf("options.omit.operators[%d]: no operator has this name", i))
		}
	}
	switch omit.Sort {
	case "", wire.SortNone, wire.SortSingle, wire.SortMulti:
	default:
		faults = append(faults, fmt.Errorf("options.omit.sort: want none, single or multi"))
	}
	c.dateBucket = c.aggregator != nil && !omit.DateBucket
	if omit.Join {
		c.joiner = nil
	}
	if omit.Dialect {
		c.sql = nil
	}
	if c.sql != nil {
		if c.dialect = c.sql.Dialect(); c.dialect == "" {
			faults = append(faults, errors.New("source: Dialect returned an empty name; remove it or set Options.Omit.Dialect"))
		}
	}
	return c, faults
}

// document returns the document that follows from the capabilities and the
// definition.
func (c capabilities) document(def Definition, omit Omit) *wire.Document {
	doc := &wire.Document{
		ProtocolVersion: wire.ProtocolVersion,
		Slug:            def.Slug,
		Capabilities: wire.Capabilities{
			Operators: slices.DeleteFunc(filter.Operators(), func(op wire.Op) bool {
				return slices.Contains(omit.Operators, op)
			}),
			DateBucket:   c.dateBucket,
			Sort:         wire.SortMulti,
			Offset:       !omit.Offset,
			Join:         c.joiner != nil,
			KeysEnforced: def.KeysEnforced,
			Limits:       def.Limits,
		},
		Dialect:          c.dialect,
		CredentialSchema: def.Credentials,
		Endpoints:        []wire.Endpoint{},
	}
	if omit.Sort != "" {
		doc.Capabilities.Sort = omit.Sort
	}
	if doc.CredentialSchema == nil {
		doc.CredentialSchema = []wire.CredentialField{}
	}
	for _, r := range c.routes {
		doc.Endpoints = append(doc.Endpoints, r.endpoint)
	}
	return doc
}
