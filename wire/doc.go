// Package wire is the external data connector protocol as Go values: names and
// limits, the capability document, tables, filters, requests, answers, cells,
// credentials, errors, and strict reading and writing of all of them. It needs
// only the standard library and knows no HTTP. The rules of the protocol are in
// docs/protocol.md; a comment such as [rule cell-1] names one.
//
// The author of a connector meets these values through package connector, and
// makes cells with the constructors below. A client or a test may use the package
// alone:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/connectorsdk/connector-sdk-go/wire"
//	)
//
//	func main() {
//		body, err := wire.EncodeRequest(&wire.CountRequest{
//			Table: "orders",
//			Where: wire.Where{
//				And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("paid")}},
//			},
//			Envelope: wire.Envelope{
//				Credentials: wire.NewCredentials(map[string]string{"apiKey": "sk-1"}),
//				TimeoutMS:   30_000,
//			},
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		var request wire.CountRequest // as the connector reads it
//		if err := wire.Decode(body, &request); err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(request.Table, request.And[0].Value, request.Credentials)
//		// Prints: orders paid [redacted]
//	}
//
// # Cells
//
// A [Value] is one cell: null, or a scalar already spelled as the protocol
// wants it. The constructor picks the spelling:
//
//	wire.Int(7)                          7
//	wire.Int(1 << 60)                    "1152921504606846976"   beyond 2^53-1, digits
//	wire.Decimal("10.250")               "10.250"                exact, scale kept
//	wire.Float(0.1)                      0.1                     for measurements, not money
//	wire.Text("Zoë")                     "Zoë"
//	wire.Date(t)                         "2024-02-29"
//	wire.Datetime(t)                     "2024-02-29T22:30:00Z"
//	wire.DatetimeWidth(t, 3)             "2024-02-29T22:30:00.000Z"
//	wire.Array(wire.Text("a"))           "[\"a\"]"
//	wire.Null()                          null
//
// A value that cannot cross the wire, such as a NaN or a text with bad UTF-8,
// fails its row. [Value.Err] and [Value.AppendJSON] return the
// reason.
//
// # Reading and writing
//
// [Decode] reads every message strictly, because a member that is dropped, merged
// or misread could change which rows answer. Its errors name a place, such as
// and[0].values[2], and what would be right there. They never quote the message,
// so they may be sent back. [DecodeAnswer] reads as a client does, which ignores
// members that it does not know. [EncodeRequest] and [EncodeAnswer] write messages.
// The compiler refuses an answer where a request is needed, and the other way round.
//
// These four are the only way: encoding/json fails for every [Message], with an
// error that says so, and for the parts of messages that struct tags cannot spell,
// such as a [Filter] or a [CredentialField]. It would merge duplicate members, drop
// unknown ones and leave the credentials out, all in silence. It works for a [Value],
// and for the parts whose members are their tags, such as [Limits].
//
// The same messages exist as JSON Schemas in package wire/schema, and as a folder
// of legal and illegal messages, each with the reason, in testdata/verdicts. A
// test compares the three.
//
// # Secrets
//
// [Credentials], [Bearer] and [Token] print as [redacted] everywhere: through fmt,
// slog, encoders and reflection. Only [Credentials.Get], [Credentials.Reveal] and
// [EncodeRequest] show a credential, only [Bearer.Reveal] the token of a client, and
// nothing shows that of a host. [Credentials.Scrub] removes credentials from other
// texts.
//
// # Rough edges
//
// Decode reads a JSON number as the platform does, as a double: send an operand
// beyond 2^53-1 or with more than 17 digits as a string. Where the protocol wants
// an integer, Decode decides by the exact value: 3e4 is an integer, and
// 1.00000000000000000001 is not. Integers end at 2^53-1 everywhere.
//
// Values may be used concurrently. So may a message that is no longer written.
package wire
