package wire

import (
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// CountRequest is the body of /count.
type CountRequest struct {
	Table string
	Where
	Envelope
}

var countRequest = newObject(
	required("table", func(m *CountRequest) *string { return &m.Table }, text),
	where(func(m *CountRequest) *Where { return &m.Where }),
	fieldTypes(func(m *CountRequest) *Where { return &m.Where }),
	envelope(func(m *CountRequest) *Envelope { return &m.Envelope }),
)

func (m *CountRequest) message(d *decoder, e *encoder) error { return process(countRequest, m, d, e) }

// CountAnswer is the answer of /count.
type CountAnswer struct {
	answer
	Count int64
}

var countAnswer = newObject(
	required("count", func(m *CountAnswer) *int64 { return &m.Count }, count),
)

func (m *CountAnswer) message(d *decoder, e *encoder) error { return process(countAnswer, m, d, e) }

// SizeRequest is the body of /size.
type SizeRequest struct {
	Table string
	Envelope
}

var sizeRequest = newObject(
	required("table", func(m *SizeRequest) *string { return &m.Table }, text),
	envelope(func(m *SizeRequest) *Envelope { return &m.Envelope }),
).lenient()

func (m *SizeRequest) message(d *decoder, e *encoder) error { return process(sizeRequest, m, d, e) }

// SizeAnswer is the answer of /size. A nil Size means unknown.
type SizeAnswer struct {
	answer
	Size *Size
}

var sizeAnswer = newObject(
	required("size", func(m *SizeAnswer) **Size { return &m.Size }, nullable(size.codec())),
)

func (m *SizeAnswer) message(d *decoder, e *encoder) error { return process(sizeAnswer, m, d, e) }

// Size is a table's number of rows.
type Size struct {
	Rows  int64 `json:"rows"`
	Exact bool  `json:"exact"` // false: the source estimates
}

var size = newObject(
	required("rows", func(m *Size) *int64 { return &m.Rows }, count),
	required("exact", func(m *Size) *bool { return &m.Exact }, boolean),
)

// CardinalityRequest is the body of /cardinality.
type CardinalityRequest struct {
	Table   string
	Columns []string // at least one
	Envelope
}

var cardinalityRequest = newObject(
	required("table", func(m *CardinalityRequest) *string { return &m.Table }, text),
	required("columns", func(m *CardinalityRequest) *[]string { return &m.Columns }, codec[[]string]{
		read: func(d *decoder, p *[]string) {
			if texts.read(d, p); len(*p) == 0 {
				d.fail("must name at least one column")
			}
		},
		write: texts.write,
	}),
	envelope(func(m *CardinalityRequest) *Envelope { return &m.Envelope }),
).lenient()

func (m *CardinalityRequest) message(d *decoder, e *encoder) error {
	return process(cardinalityRequest, m, d, e)
}

// CardinalityAnswer is the answer of /cardinality. A nil entry means that the
// column cannot be counted distinctly; the platform then measures it itself.
type CardinalityAnswer struct {
	answer
	Columns map[string]*Cardinality
}

var cardinalityAnswer = newObject(
	required("columns", func(m *CardinalityAnswer) *map[string]*Cardinality { return &m.Columns },
		mapOf(nullable(cardinality.codec()))),
)

func (m *CardinalityAnswer) message(d *decoder, e *encoder) error {
	return process(cardinalityAnswer, m, d, e)
}

// Cardinality counts a column's non-null and distinct values.
type Cardinality struct {
	NonNull  int64 `json:"nonNull"`
	Distinct int64 `json:"distinct"`
}

var cardinality = newObject(
	required("nonNull", func(m *Cardinality) *int64 { return &m.NonNull }, count),
	required("distinct", func(m *Cardinality) *int64 { return &m.Distinct }, count),
)

// LinkHitRateRequest is the body of /linkHitRate.
type LinkHitRateRequest struct {
	FromTable  string
	FromColumn string
	ToTable    string
	ToColumn   string
	Envelope
}

var linkHitRateRequest = newObject(
	required("fromTable", func(m *LinkHitRateRequest) *string { return &m.FromTable }, text),
	required("fromColumn", func(m *LinkHitRateRequest) *string { return &m.FromColumn }, text),
	required("toTable", func(m *LinkHitRateRequest) *string { return &m.ToTable }, text),
	required("toColumn", func(m *LinkHitRateRequest) *string { return &m.ToColumn }, text),
	envelope(func(m *LinkHitRateRequest) *Envelope { return &m.Envelope }),
).lenient()

func (m *LinkHitRateRequest) message(d *decoder, e *encoder) error {
	return process(linkHitRateRequest, m, d, e)
}

// LinkHitRate is the answer of /linkHitRate.
type LinkHitRate struct {
	answer
	FromNonNull   int64
	OrphanCount   int64   // non-null from-rows without a match
	OrphanRate    float64 // OrphanCount/FromNonNull, 0 over nothing
	OrphanSamples []string
}

var linkHitRate = newObject(
	required("fromNonNull", func(m *LinkHitRate) *int64 { return &m.FromNonNull }, count),
	required("orphanCount", func(m *LinkHitRate) *int64 { return &m.OrphanCount }, count),
	required("orphanRate", func(m *LinkHitRate) *float64 { return &m.OrphanRate }, number(0, 1)),
	required("orphanSamples", func(m *LinkHitRate) *[]string { return &m.OrphanSamples }, codec[[]string]{
		read: func(d *decoder, p *[]string) {
			if texts.read(d, p); len(*p) > terms.MaxOrphanSamples {
				d.fail("must hold at most " + strconv.Itoa(terms.MaxOrphanSamples) + " samples")
			}
		},
		write: texts.write,
	}),
)

func (m *LinkHitRate) message(d *decoder, e *encoder) error { return process(linkHitRate, m, d, e) }
