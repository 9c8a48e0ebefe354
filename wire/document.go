package wire

import "github.com/connectorsdk/connector-sdk-go/internal/terms"

// Document is the capability document, which tells the platform what a
// connector can do. Nobody writes one by hand: package connector derives it from
// a source.
type Document struct {
	answer
	ProtocolVersion  int               `json:"protocolVersion"`
	Slug             string            `json:"slug"` // ^[a-z][a-z0-9-]{2,39}$
	Dialect          string            `json:"dialect,omitempty"`
	Capabilities     Capabilities      `json:"capabilities"`
	CredentialSchema []CredentialField `json:"credentialSchema"`
	Endpoints        []Endpoint        `json:"endpoints"`
}

var document = newObject(
	required("protocolVersion", func(m *Document) *int { return &m.ProtocolVersion }, integer[int](ProtocolVersion, ProtocolVersion)),
	required("slug", func(m *Document) *string { return &m.Slug }, textOf(func(d *decoder) string {
		slug := d.text()
		if d.ok() && !terms.IsSlug(slug) {
			d.fail("must match ^[a-z][a-z0-9-]{2,39}$")
		}
		return slug
	})),
	optional("dialect", func(m *Document) *string { return &m.Dialect }, text),
	required("capabilities", func(m *Document) *Capabilities { return &m.Capabilities }, capabilities.codec()),
	required("credentialSchema", func(m *Document) *[]CredentialField { return &m.CredentialSchema },
		list(credentialField.codec())),
	required("endpoints", func(m *Document) *[]Endpoint { return &m.Endpoints }, list(oneOf(endpoints...))),
).lenient()

func (m *Document) message(d *decoder, e *encoder) error { return process(document, m, d, e) }

// Capabilities says what a connector can do itself instead of the platform.
type Capabilities struct {
	noJSON
	Operators    []Op        `json:"operators"`
	DateBucket   bool        `json:"dateBucket"`
	Sort         SortSupport `json:"sort"`
	Offset       bool        `json:"offset"`
	Join         bool        `json:"join"`
	KeysEnforced bool        `json:"keysEnforced"`
	Limits       Limits      `json:"limits"`
}

var capabilities = newObject(
	required("operators", func(m *Capabilities) *[]Op { return &m.Operators }, list(operator)),
	required("dateBucket", func(m *Capabilities) *bool { return &m.DateBucket }, boolean),
	required("sort", func(m *Capabilities) *SortSupport { return &m.Sort }, oneOf(SortNone, SortSingle, SortMulti)),
	required("offset", func(m *Capabilities) *bool { return &m.Offset }, boolean),
	required("join", func(m *Capabilities) *bool { return &m.Join }, boolean),
	required("keysEnforced", func(m *Capabilities) *bool { return &m.KeysEnforced }, boolean),
	required("limits", func(m *Capabilities) *Limits { return &m.Limits }, limits.codec()),
)

// Limits are the ceilings of the source, against which the platform plans its
// pulls. Zero means unknown, and is left out of the document.
type Limits struct {
	// PageSizeMax is the most rows that one answer of /query has [rule document-15a].
	// It is not the size of the upstream's pages: a source that reads page after page
	// until its answer is complete leaves it zero.
	PageSizeMax int64 `json:"pageSizeMax,omitempty"`
	// RowsPerTableMax is the most rows of a table that can be read at all.
	RowsPerTableMax int64 `json:"rowsPerTableMax,omitempty"`
	// Concurrency is how many requests the connector takes at once, 1 to 16.
	Concurrency int `json:"concurrency,omitempty"`
	// OffsetMax is the largest offset that a query may have.
	OffsetMax int64 `json:"offsetMax,omitempty"`
}

// A source that yields no rows at a time, or none at all, is not a source, but
// one that honours no offset beyond 0 is.
var limits = newObject(
	optional("pageSizeMax", func(m *Limits) *int64 { return &m.PageSizeMax }, positive),
	optional("rowsPerTableMax", func(m *Limits) *int64 { return &m.RowsPerTableMax }, positive),
	optional("concurrency", func(m *Limits) *int { return &m.Concurrency }, integer[int](terms.MinConcurrency, terms.MaxConcurrency)),
	optional("offsetMax", func(m *Limits) *int64 { return &m.OffsetMax }, count),
)

// CredentialField is one input of the connect form. The value a tenant types
// arrives under Key in every request's credentials.
type CredentialField struct {
	noJSON
	Key   string         `json:"key"`
	Label string         `json:"label"`
	Type  CredentialType `json:"type"`
	// Optional lets the tenant leave the input blank. The document writes it as
	// the member required, which the protocol takes as true where it is absent.
	Optional    bool   `json:"-"`
	Placeholder string `json:"placeholder,omitempty"`
	// Help is short markdown shown above the input. Say where in the vendor's
	// console the value is found.
	Help string `json:"help,omitempty"`
}

var credentialField = newObject(
	required("key", func(m *CredentialField) *string { return &m.Key }, text),
	required("label", func(m *CredentialField) *string { return &m.Label }, text),
	required("type", func(m *CredentialField) *CredentialType { return &m.Type },
		oneOf(CredentialText, CredentialPassword, CredentialTextarea)),
	[]member[CredentialField]{{
		name:  "required",
		read:  func(d *decoder, m *CredentialField) { m.Optional = !d.boolean() },
		write: func(e *encoder, m *CredentialField) { e.bool(!m.Optional) },
	}},
	optional("placeholder", func(m *CredentialField) *string { return &m.Placeholder }, text),
	optional("help", func(m *CredentialField) *string { return &m.Help }, text),
)
