package wire

// The methods of messages, and of parts that plain struct tags could not spell
// right. The table of each does the work. Where and Envelope have no methods for
// encoding/json, because the requests that embed them would inherit these.

func (m *CheckRequest) encode(kind messageKind) ([]byte, error) { return encode(checkRequest, m, kind) }
func (m *DiscoveryRequest) encode(kind messageKind) ([]byte, error) {
	return encode(discoveryRequest, m, kind)
}
func (m *QueryRequest) encode(kind messageKind) ([]byte, error) { return encode(queryRequest, m, kind) }
func (m *SQLRequest) encode(kind messageKind) ([]byte, error)   { return encode(sqlRequest, m, kind) }
func (m *CountRequest) encode(kind messageKind) ([]byte, error) { return encode(countRequest, m, kind) }
func (m *AggregateRequest) encode(kind messageKind) ([]byte, error) {
	return encode(aggregateRequest, m, kind)
}
func (m *SizeRequest) encode(kind messageKind) ([]byte, error) { return encode(sizeRequest, m, kind) }
func (m *CardinalityRequest) encode(kind messageKind) ([]byte, error) {
	return encode(cardinalityRequest, m, kind)
}
func (m *LinkHitRateRequest) encode(kind messageKind) ([]byte, error) {
	return encode(linkHitRateRequest, m, kind)
}
func (m *Document) encode(kind messageKind) ([]byte, error)    { return encode(document, m, kind) }
func (m *CheckAnswer) encode(kind messageKind) ([]byte, error) { return encode(checkAnswer, m, kind) }
func (m *Discovery) encode(kind messageKind) ([]byte, error)   { return encode(discovery, m, kind) }
func (m *CountAnswer) encode(kind messageKind) ([]byte, error) { return encode(countAnswer, m, kind) }
func (m *AggregateAnswer) encode(kind messageKind) ([]byte, error) {
	return encode(aggregateAnswer, m, kind)
}
func (m *SizeAnswer) encode(kind messageKind) ([]byte, error) { return encode(sizeAnswer, m, kind) }
func (m *CardinalityAnswer) encode(kind messageKind) ([]byte, error) {
	return encode(cardinalityAnswer, m, kind)
}
func (m *LinkHitRate) encode(kind messageKind) ([]byte, error) { return encode(linkHitRate, m, kind) }
func (m *ErrorAnswer) encode(kind messageKind) ([]byte, error) { return encode(errorAnswer, m, kind) }

// Answers may be read by a client too, see DecodeAnswer.

func (m *Document) decodeAnswer(data []byte) error    { return unmarshalAnswer(document, data, m) }
func (m *CheckAnswer) decodeAnswer(data []byte) error { return unmarshalAnswer(checkAnswer, data, m) }
func (m *Discovery) decodeAnswer(data []byte) error   { return unmarshalAnswer(discovery, data, m) }
func (m *CountAnswer) decodeAnswer(data []byte) error { return unmarshalAnswer(countAnswer, data, m) }
func (m *AggregateAnswer) decodeAnswer(data []byte) error {
	return unmarshalAnswer(aggregateAnswer, data, m)
}
func (m *SizeAnswer) decodeAnswer(data []byte) error { return unmarshalAnswer(sizeAnswer, data, m) }
func (m *CardinalityAnswer) decodeAnswer(data []byte) error {
	return unmarshalAnswer(cardinalityAnswer, data, m)
}
func (m *LinkHitRate) decodeAnswer(data []byte) error { return unmarshalAnswer(linkHitRate, data, m) }
func (m *ErrorAnswer) decodeAnswer(data []byte) error { return unmarshalAnswer(errorAnswer, data, m) }

// MarshalJSON writes a message or a part of one as the protocol spells it, with
// "[redacted]" in the place of credentials.

func (m CheckRequest) MarshalJSON() ([]byte, error)       { return marshal(checkRequest, &m) }
func (m DiscoveryRequest) MarshalJSON() ([]byte, error)   { return marshal(discoveryRequest, &m) }
func (m QueryRequest) MarshalJSON() ([]byte, error)       { return marshal(queryRequest, &m) }
func (m SQLRequest) MarshalJSON() ([]byte, error)         { return marshal(sqlRequest, &m) }
func (m CountRequest) MarshalJSON() ([]byte, error)       { return marshal(countRequest, &m) }
func (m AggregateRequest) MarshalJSON() ([]byte, error)   { return marshal(aggregateRequest, &m) }
func (m SizeRequest) MarshalJSON() ([]byte, error)        { return marshal(sizeRequest, &m) }
func (m CardinalityRequest) MarshalJSON() ([]byte, error) { return marshal(cardinalityRequest, &m) }
func (m LinkHitRateRequest) MarshalJSON() ([]byte, error) { return marshal(linkHitRateRequest, &m) }
func (m Document) MarshalJSON() ([]byte, error)           { return marshal(document, &m) }
func (m CheckAnswer) MarshalJSON() ([]byte, error)        { return marshal(checkAnswer, &m) }
func (m Discovery) MarshalJSON() ([]byte, error)          { return marshal(discovery, &m) }
func (m CountAnswer) MarshalJSON() ([]byte, error)        { return marshal(countAnswer, &m) }
func (m AggregateAnswer) MarshalJSON() ([]byte, error)    { return marshal(aggregateAnswer, &m) }
func (m SizeAnswer) MarshalJSON() ([]byte, error)         { return marshal(sizeAnswer, &m) }
func (m CardinalityAnswer) MarshalJSON() ([]byte, error)  { return marshal(cardinalityAnswer, &m) }
func (m LinkHitRate) MarshalJSON() ([]byte, error)        { return marshal(linkHitRate, &m) }
func (m ErrorAnswer) MarshalJSON() ([]byte, error)        { return marshal(errorAnswer, &m) }
func (m Filter) MarshalJSON() ([]byte, error)             { return marshal(filterObject, &m) }
func (m SortKey) MarshalJSON() ([]byte, error)            { return marshal(sortKey, &m) }
func (m JoinHop) MarshalJSON() ([]byte, error)            { return marshal(joinHop, &m) }
func (m JoinField) MarshalJSON() ([]byte, error)          { return marshal(joinField, &m) }
func (m GroupKey) MarshalJSON() ([]byte, error)           { return marshal(groupKey, &m) }
func (m Measure) MarshalJSON() ([]byte, error)            { return marshal(measure, &m) }
func (m Capabilities) MarshalJSON() ([]byte, error)       { return marshal(capabilities, &m) }
func (m CredentialField) MarshalJSON() ([]byte, error)    { return marshal(credentialField, &m) }
func (m Table) MarshalJSON() ([]byte, error)              { return marshal(table, &m) }
func (m Field) MarshalJSON() ([]byte, error)              { return marshal(tableField, &m) }

// UnmarshalJSON reads a message or a part of one as strictly as Decode.

func (m *CheckRequest) UnmarshalJSON(data []byte) error { return unmarshal(checkRequest, data, m) }
func (m *DiscoveryRequest) UnmarshalJSON(data []byte) error {
	return unmarshal(discoveryRequest, data, m)
}
func (m *QueryRequest) UnmarshalJSON(data []byte) error { return unmarshal(queryRequest, data, m) }
func (m *SQLRequest) UnmarshalJSON(data []byte) error   { return unmarshal(sqlRequest, data, m) }
func (m *CountRequest) UnmarshalJSON(data []byte) error { return unmarshal(countRequest, data, m) }
func (m *AggregateRequest) UnmarshalJSON(data []byte) error {
	return unmarshal(aggregateRequest, data, m)
}
func (m *SizeRequest) UnmarshalJSON(data []byte) error { return unmarshal(sizeRequest, data, m) }
func (m *CardinalityRequest) UnmarshalJSON(data []byte) error {
	return unmarshal(cardinalityRequest, data, m)
}
func (m *LinkHitRateRequest) UnmarshalJSON(data []byte) error {
	return unmarshal(linkHitRateRequest, data, m)
}
func (m *Document) UnmarshalJSON(data []byte) error    { return unmarshal(document, data, m) }
func (m *CheckAnswer) UnmarshalJSON(data []byte) error { return unmarshal(checkAnswer, data, m) }
func (m *Discovery) UnmarshalJSON(data []byte) error   { return unmarshal(discovery, data, m) }
func (m *CountAnswer) UnmarshalJSON(data []byte) error { return unmarshal(countAnswer, data, m) }
func (m *AggregateAnswer) UnmarshalJSON(data []byte) error {
	return unmarshal(aggregateAnswer, data, m)
}
func (m *SizeAnswer) UnmarshalJSON(data []byte) error { return unmarshal(sizeAnswer, data, m) }
func (m *CardinalityAnswer) UnmarshalJSON(data []byte) error {
	return unmarshal(cardinalityAnswer, data, m)
}
func (m *LinkHitRate) UnmarshalJSON(data []byte) error  { return unmarshal(linkHitRate, data, m) }
func (m *ErrorAnswer) UnmarshalJSON(data []byte) error  { return unmarshal(errorAnswer, data, m) }
func (m *Filter) UnmarshalJSON(data []byte) error       { return unmarshal(filterObject, data, m) }
func (m *SortKey) UnmarshalJSON(data []byte) error      { return unmarshal(sortKey, data, m) }
func (m *JoinHop) UnmarshalJSON(data []byte) error      { return unmarshal(joinHop, data, m) }
func (m *JoinField) UnmarshalJSON(data []byte) error    { return unmarshal(joinField, data, m) }
func (m *GroupKey) UnmarshalJSON(data []byte) error     { return unmarshal(groupKey, data, m) }
func (m *Measure) UnmarshalJSON(data []byte) error      { return unmarshal(measure, data, m) }
func (m *Capabilities) UnmarshalJSON(data []byte) error { return unmarshal(capabilities, data, m) }
func (m *CredentialField) UnmarshalJSON(data []byte) error {
	return unmarshal(credentialField, data, m)
}
func (m *Table) UnmarshalJSON(data []byte) error { return unmarshal(table, data, m) }
func (m *Field) UnmarshalJSON(data []byte) error { return unmarshal(tableField, data, m) }
