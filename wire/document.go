package wire

// Document is the capability document (protocol, Resources and their fields).
// A host never writes one: package connector derives it from a source (H1).
// A client decodes one.
type Document struct {
	ProtocolVersion  int               `json:"protocolVersion"`
	Slug             string            `json:"slug"` // ^[a-z][a-z0-9-]{2,39}$
	Dialect          string            `json:"dialect,omitempty"`
	Capabilities     Capabilities      `json:"capabilities"`
	CredentialSchema []CredentialField `json:"credentialSchema"`
	Endpoints        []Endpoint        `json:"endpoints"`
}

// Capabilities says what a connector pushes to its source.
type Capabilities struct {
	Operators    []Op        `json:"operators"`
	DateBucket   bool        `json:"dateBucket"`
	Sort         SortSupport `json:"sort"`
	Offset       bool        `json:"offset"`
	Join         bool        `json:"join"`
	KeysEnforced bool        `json:"keysEnforced"`
	Limits       Limits      `json:"limits"`
}

// Limits are the ceilings of the source, against which the platform plans its
// pulls. Zero means unknown, and is left out of the document.
type Limits struct {
	PageSizeMax     int64 `json:"pageSizeMax,omitempty"`     // rows in one answer
	RowsPerTableMax int64 `json:"rowsPerTableMax,omitempty"` // rows that can be read at all
	Concurrency     int   `json:"concurrency,omitempty"`     // requests at once, 1 to 16
	OffsetMax       int64 `json:"offsetMax,omitempty"`       // largest offset honoured
}

// CredentialField is one input of the connect form. The value a tenant types
// arrives under Key in every request's credentials.
type CredentialField struct {
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
