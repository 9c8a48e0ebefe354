package wire_test

import (
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

func Example() {
	body, err := wire.EncodeRequest(&wire.CountRequest{
		Table:    "orders",
		Where:    wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("paid")}}},
		Envelope: wire.Envelope{Credentials: wire.NewCredentials(map[string]string{"apiKey": "sk-1"}), TimeoutMS: 30_000},
	})
	if err != nil {
		log.Fatal(err)
	}
	var request wire.CountRequest // as the connector reads it
	if err := wire.Decode(body, &request); err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Table, request.And[0].Value, request.Credentials)
	// Output: orders paid [redacted]
}

func ExampleDecode() {
	for _, body := range []string{
		`{"table": "orders", "and": [], "credentials": {}, "timeoutMs": 3e4}`,
		`{"table": "orders", "and": [{"field": "id", "op": "in", "values": [1, 2, [3]]}], "credentials": {}, "timeoutMs": 1}`,
		`{"table": "orders", "and": [], "Credentials": {}, "timeoutMs": 1}`,
		`{"table": "orders", "and": [], "credentials": {}, "timeoutMs": 1.5}`,
	} {
		var request wire.CountRequest
		if err := wire.Decode([]byte(body), &request); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("legal:", request.Table, request.TimeoutMS)
	}
	// Output:
	// legal: orders 30000
	// and[0].values[2]: must be a string, a number, true, false or null
	// body: unknown member that differs from "credentials" only in case; write it exactly so
	// timeoutMs: must be an integer from 1 to 9007199254740991
}

func ExampleMessageError() {
	err := wire.Decode([]byte(`{"count": -1}`), new(wire.CountAnswer))
	var fault *wire.MessageError
	if errors.As(err, &fault) {
		fmt.Println(fault.Path)
		fmt.Println(fault.Problem)
	}
	// Output:
	// count
	// must be an integer from 0 to 9007199254740991
}

func ExampleEncodeRequest() {
	request := &wire.QueryRequest{
		Table:    "orders",
		Sort:     []wire.SortKey{{Field: "total", Dir: wire.Desc}},
		Fields:   []string{"id", "total"},
		Limit:    10,
		Envelope: wire.Envelope{Credentials: wire.NewCredentials(map[string]string{"apiKey": "sk-1"}), TimeoutMS: 30_000},
	}
	body, err := wire.EncodeRequest(request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body)) // credentials in clear: for the connection, never for a log
	fmt.Println(request.Credentials)
	// Output:
	// {"table":"orders","and":[],"sort":[{"field":"total","dir":"desc"}],"fields":["id","total"],"limit":10,"credentials":{"apiKey":"sk-1"},"timeoutMs":30000}
	// [redacted]
}

func ExampleEncodeAnswer() {
	body, err := wire.EncodeAnswer(&wire.Discovery{Tables: []wire.Table{{Name: "orders"}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body)) // nil slices are empty arrays
	// Output:
	// {"tables":[{"name":"orders","sourceDescription":"","storesRows":false,"primaryKey":[],"foreignKeys":[],"fields":[]}]}
}

func ExampleValue() {
	at := time.Date(2024, 2, 29, 22, 30, 0, 500_000_000, time.UTC)
	for _, v := range []wire.Value{
		wire.Null(),
		wire.Bool(true),
		wire.Int(7),
		wire.Int(1 << 60),
		wire.Float(0.1),
		wire.Float(1e-7),
		wire.Decimal("10.250"),
		wire.Text(`Zoë "Z"`),
		wire.Date(at),
		wire.Datetime(at),
		wire.DatetimeWidth(at, 6),
		wire.JSON(`{"a": [1, 2]}`),
		wire.Array(wire.Text("red"), wire.Int(1)),
		wire.Bytes([]byte{1, 2}),
	} {
		text, err := v.AppendJSON(nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(text))
	}
	// Output:
	// null
	// true
	// 7
	// "1152921504606846976"
	// 0.1
	// "0.0000001"
	// "10.250"
	// "Zoë \"Z\""
	// "2024-02-29"
	// "2024-02-29T22:30:00.500Z"
	// "2024-02-29T22:30:00.500000Z"
	// "{\"a\":[1,2]}"
	// "[\"red\",1]"
	// "AQI="
}

func ExampleValue_Err() {
	for _, v := range []wire.Value{wire.Decimal("1.50"), wire.Decimal("1e5"), wire.Text("caf\xe9")} {
		fmt.Println(v.Err())
	}
	// Output:
	// <nil>
	// not plain decimal digits; a decimal is an optional sign, digits, and optionally a dot and digits
	// text is not valid UTF-8
}

func ExampleNewCredentials() {
	credentials := wire.NewCredentials(map[string]string{"apiKey": "sk-live-1", "region": ""})
	fmt.Println(credentials)
	fmt.Println(credentials.Keys())
	fmt.Println(credentials.Only("apiKey", "region").Keys()) // a blank value is a missing one
	fmt.Println(credentials.Get("apiKey"))
	// Output:
	// [redacted]
	// [apiKey region]
	// [apiKey]
	// sk-live-1
}

func ExampleCredentials_Scrub() {
	credentials := wire.NewCredentials(map[string]string{"apiKey": "sk/live 1"})
	fmt.Println(credentials.Scrub("Get https://api.example.com/?key=sk%2Flive+1: refused"))
	// Output: Get https://api.example.com/?key=[redacted]: refused
}

func ExampleNewToken() {
	token, err := wire.NewToken("0123456789abcdef0123456789abcdef")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(token.Matches("0123456789abcdef0123456789abcdef"), token.Matches("guess"))
	slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})).Info("started", "token", token)
	_, err = wire.NewToken("short")
	fmt.Println(err)
	// Output:
	// true false
	// level=INFO msg=started token=[redacted]
	// a token needs at least 32 characters: mint one with `openssl rand -hex 32`
}

func ExampleErrorf() {
	err := fmt.Errorf("reading: %w", wire.Errorf(wire.CodeUnknownEntity, "there is no table %s", "orders"))
	var deliberate *wire.Error
	if errors.As(err, &deliberate) {
		body, _ := wire.EncodeAnswer(&wire.ErrorAnswer{Error: *deliberate})
		fmt.Println(deliberate.Code.Status(), string(body))
	}
	fmt.Println(errors.Is(err, &wire.Error{Code: wire.CodeTimeout}))
	// Output:
	// 404 {"error":{"code":"unknown_entity","message":"there is no table orders"}}
	// false
}
