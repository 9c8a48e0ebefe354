package wire

import "github.com/connectorsdk/connector-sdk-go/internal/jsontext"

// Message is one message of the protocol: a [Request] or an [Answer].
type Message interface {
	// message reads the message with d, or writes it with e if d is nil.
	message(d *decoder, e *encoder) error
}

// Request is a pointer to one of the nine requests, such as [*CountRequest].
type Request interface {
	Message
	isRequest()
}

// Answer is a pointer to one of the answers, such as [*CountAnswer], to an
// [ErrorAnswer] or to the [Document].
type Answer interface {
	Message
	isAnswer()
}

// noJSON makes encoding/json fail for messages and for the parts of messages that
// struct tags cannot spell. It is an alias of a type elsewhere so that its methods
// do not stand in the documentation of each of them. The verb %v shows it as {} at the
// beginning of a message. A method that printed it otherwise would be promoted to the
// message, and be called in the place of all that the message holds.
type noJSON = jsontext.Refusal

// answer makes a struct that embeds it an [Answer]. [Envelope] does it for requests.
type answer struct{ noJSON }

func (*answer) isAnswer()    {}
func (*Envelope) isRequest() {}

// process reads m with d, or writes it with e if d is nil.
func process[T any](o *object[T], m *T, d *decoder, e *encoder) error {
	if d == nil {
		o.write(e, m)
		return nil
	}
	return decode(d, o, m)
}
