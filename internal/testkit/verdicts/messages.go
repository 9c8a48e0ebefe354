package verdicts

import "github.com/connectorsdk/connector-sdk-go/wire"

// A Message is a message of the protocol, by the folder of its verdicts. Make returns an empty one.
type Message struct {
	Folder string
	Make   func() wire.Message
}

// Messages are all there are. Package ndjson reads the lines of streams, which have verdicts too.
var Messages = []Message{
	{"check-request", func() wire.Message { return new(wire.CheckRequest) }},
	{"discovery-request", func() wire.Message { return new(wire.DiscoveryRequest) }},
	{"query-request", func() wire.Message { return new(wire.QueryRequest) }},
	{"sql-request", func() wire.Message { return new(wire.SQLRequest) }},
	{"count-request", func() wire.Message { return new(wire.CountRequest) }},
	{"aggregate-request", func() wire.Message { return new(wire.AggregateRequest) }},
	{"size-request", func() wire.Message { return new(wire.SizeRequest) }},
	{"cardinality-request", func() wire.Message { return new(wire.CardinalityRequest) }},
	{"link-hit-rate-request", func() wire.Message { return new(wire.LinkHitRateRequest) }},
	{"document", func() wire.Message { return new(wire.Document) }},
	{"check-answer", func() wire.Message { return new(wire.CheckAnswer) }},
	{"discovery-answer", func() wire.Message { return new(wire.Discovery) }},
	{"count-answer", func() wire.Message { return new(wire.CountAnswer) }},
	{"aggregate-answer", func() wire.Message { return new(wire.AggregateAnswer) }},
	{"size-answer", func() wire.Message { return new(wire.SizeAnswer) }},
	{"cardinality-answer", func() wire.Message { return new(wire.CardinalityAnswer) }},
	{"link-hit-rate-answer", func() wire.Message { return new(wire.LinkHitRate) }},
	{"error", func() wire.Message { return new(wire.ErrorAnswer) }},
}

// Encode encodes a request or an answer.
func Encode(m wire.Message) ([]byte, error) {
	if request, ok := m.(wire.Request); ok {
		return wire.EncodeRequest(request)
	}
	return wire.EncodeAnswer(m.(wire.Answer))
}
