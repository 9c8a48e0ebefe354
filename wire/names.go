package wire

// ProtocolVersion is the only value that a document's protocolVersion may have.
const ProtocolVersion = 1

// The paths of the protocol, relative to the connector's base URL.
// [PathDocument] is a GET, every other one a POST.
const (
	PathDocument    = "/.well-known/service/platform.json"
	PathCheck       = "/check"
	PathDiscovery   = "/discovery"
	PathQuery       = "/query"
	PathCount       = "/count"
	PathAggregate   = "/aggregate"
	PathSize        = "/size"
	PathCardinality = "/cardinality"
	PathLinkHitRate = "/linkHitRate"
)

// An Endpoint names an optional route in a document's endpoints.
type Endpoint string

// The optional routes. The path of each is a slash and its name.
const (
	EndpointSize        Endpoint = "size"
	EndpointCount       Endpoint = "count"
	EndpointAggregate   Endpoint = "aggregate"
	EndpointCardinality Endpoint = "cardinality"
	EndpointLinkHitRate Endpoint = "linkHitRate"
)

// endpoints are those that a document may list.
var endpoints = []Endpoint{EndpointSize, EndpointCount, EndpointAggregate, EndpointCardinality, EndpointLinkHitRate}

// An Op is a filter operator.
type Op string

// The thirteen operators.
const (
	OpEq         Op = "eq"
	OpNeq        Op = "neq"
	OpGt         Op = "gt"
	OpGte        Op = "gte"
	OpLt         Op = "lt"
	OpLte        Op = "lte"
	OpIn         Op = "in"
	OpNin        Op = "nin"
	OpContains   Op = "contains"   // array membership
	OpIncludes   Op = "includes"   // substring
	OpStartsWith Op = "startswith" // prefix
	OpIsNull     Op = "isnull"
	OpNotNull    Op = "notnull"
)

// A Type is the type of a field, in discovery, in fieldTypes and in a join
// hop's fields. The empty Type means undeclared [rule filter-8].
type Type string

// The nine types.
const (
	TypeString    Type = "string"
	TypeNumber    Type = "number"
	TypeDecimal   Type = "decimal"
	TypeBoolean   Type = "boolean"
	TypeDate      Type = "date"
	TypeDatetime  Type = "datetime"
	TypeJSON      Type = "json"
	TypeArray     Type = "array"
	TypeReference Type = "reference"
)

// Numeric reports whether values of the type compare as decimal numbers.
func (t Type) Numeric() bool { return t == TypeNumber || t == TypeDecimal }

// A Direction is the direction of a sort key.
type Direction string

// The directions. Nulls come last in both.
const (
	Asc  Direction = "asc"
	Desc Direction = "desc"
)

// SortSupport is the number of sort keys a connector's /query honours.
type SortSupport string

// The values of capabilities.sort.
const (
	SortNone   SortSupport = "none"
	SortSingle SortSupport = "single"
	SortMulti  SortSupport = "multi"
)

// An AggFunc is the function of a measure.
type AggFunc string

// The functions of a measure. The platform computes averages itself.
const (
	AggCount         AggFunc = "count"
	AggSum           AggFunc = "sum"
	AggMin           AggFunc = "min"
	AggMax           AggFunc = "max"
	AggCountDistinct AggFunc = "count_distinct"
)

// A Grain is the period to which a group key is truncated. The key of a group is
// then the period's first day in UTC. The empty Grain means no truncation.
type Grain string

// The four grains.
const (
	GrainYear    Grain = "year"
	GrainQuarter Grain = "quarter"
	GrainMonth   Grain = "month"
	GrainDay     Grain = "day"
)

// A CredentialType is a kind of input on the connect form.
type CredentialType string

// The credential types.
const (
	CredentialText     CredentialType = "text"
	CredentialPassword CredentialType = "password" // masked
	CredentialTextarea CredentialType = "textarea" // several lines
)
