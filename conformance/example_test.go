package conformance_test

import (
	"context"
	"fmt"
	"log"

	"github.com/connectorsdk/connector-sdk-go/conformance"
)

// Grade a connector without a port and look at what was found.
func ExampleRun() {
	target, stop := conformance.InProcess(rocky(unguarded), testToken)
	defer stop()
	report, err := conformance.Run(context.Background(), target, &conformance.Options{Mode: conformance.ModeLive, Match: `^P1\.[16]$`})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range report.Outcomes {
		fmt.Println(o.ID, o.Verdict)
	}
	fmt.Println("exit", report.Exit())
	// Output:
	// P1.1 fail
	// P1.6 pass
	// exit 1
}

// A program can look at Err alone.
func ExampleReport_Err() {
	target, stop := conformance.InProcess(rocky(nil), testToken)
	defer stop()
	report, err := conformance.Run(context.Background(), target, &conformance.Options{Mode: conformance.ModeLive})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Err())
	// Output: <nil>
}

// A failure's request is a line for a shell, without secrets.
func ExampleRequest_Curl() {
	r := conformance.Request{Method: "POST", URL: "https://connect.example.com/shop/check",
		Header: map[string][]string{"Authorization": {"Bearer $PLATFORM_CONNECTOR_TOKEN"}},
		Body:   `{"credentials":$CONNECTOR_CREDENTIALS,"timeoutMs":60000}`}
	fmt.Println(r.Curl())
	// Output: curl -sSi 'https://connect.example.com/shop/check' -H 'Authorization: Bearer '"$PLATFORM_CONNECTOR_TOKEN" -H 'Content-Type: application/json' --data-raw '{"credentials":'"$CONNECTOR_CREDENTIALS"',"timeoutMs":60000}'
}
