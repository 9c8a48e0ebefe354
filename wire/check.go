package wire

// Envelope is what every request carries: the tenant's credentials, and the
// time in milliseconds, 1 to 2^53-1, that the request may take from its
// arrival.
//
// Do not embed a request, or what requests embed ([Envelope], [Where]), in a type of
// your own: a member that the protocol adds may have the name of one of yours.
type Envelope struct {
	noJSON
	Credentials Credentials `json:"credentials"`
	TimeoutMS   int64       `json:"timeoutMs"`
}

// envelope returns the members that every request carries.
func envelope[T any](of func(*T) *Envelope) []member[T] {
	return append(
		required("credentials", func(m *T) *Credentials { return &of(m).Credentials }, credentialMap),
		required("timeoutMs", func(m *T) *int64 { return &of(m).TimeoutMS }, milliseconds)...)
}

// CheckRequest is the body of /check.
type CheckRequest struct {
	Envelope
}

var checkRequest = newObject(
	envelope(func(m *CheckRequest) *Envelope { return &m.Envelope }),
).lenient()

func (m *CheckRequest) message(d *decoder, e *encoder) error { return process(checkRequest, m, d, e) }

// DiscoveryRequest is the body of /discovery.
type DiscoveryRequest struct {
	Envelope
}

var discoveryRequest = newObject(
	envelope(func(m *DiscoveryRequest) *Envelope { return &m.Envelope }),
).lenient()

func (m *DiscoveryRequest) message(d *decoder, e *encoder) error {
	return process(discoveryRequest, m, d, e)
}

// CheckAnswer is the answer of /check. OK is always true: a rejection is an
// error.
type CheckAnswer struct {
	answer
	OK bool `json:"ok"`
}

var checkAnswer = newObject(
	required("ok", func(m *CheckAnswer) *bool { return &m.OK }, codec[bool]{
		read: func(d *decoder, p *bool) {
			if *p = d.boolean(); d.ok() && !*p {
				d.fail(mustBeOK)
			}
		},
		write: func(e *encoder, p *bool) {
			if e.bool(*p); !*p {
				e.fail(mustBeOK)
			}
		},
	}),
)

func (m *CheckAnswer) message(d *decoder, e *encoder) error { return process(checkAnswer, m, d, e) }

const mustBeOK = "must be true; a rejection is an error envelope"
