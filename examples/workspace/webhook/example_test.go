package webhook_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/webhook"
)

// A handler for the callback address of runs that are started with one key.
func ExampleNewReceiver() {
	secret := webhook.NewSecret("svc_wf_3f6c1e0a9b7d4c52")
	receiver, err := webhook.NewReceiver([]webhook.Secret{secret}, func(_ context.Context, d webhook.Delivery, _ []byte) error {
		switch d := d.(type) {
		case *webhook.Paused:
			fmt.Println("run", d.RunID, "waits at", d.TaskName)
		default:
			fmt.Println("run", d.About().RunID, d.Event())
		}
		return nil
	}, nil)
	if err != nil {
		log.Fatal(err)
	}

	// The service delivers this twice, because it may.
	const body = `{"event":"awaiting_input","run_id":"run_1","workflow_id":"wf_1","state":"waiting","summary":"","duration":3,` +
		`"task_name":"Approve","job_id":"job_2","resume_url":"https://platform.example.com/resume?sig=abc"}`
	for range 2 {
		r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(body))
		r.Header.Set(webhook.HeaderSignature, secret.Sign([]byte(body)))
		w := httptest.NewRecorder()
		receiver.ServeHTTP(w, r)
		fmt.Println("answered", w.Code)
	}
	// Output:
	// run run_1 waits at Approve
	// answered 204
	// answered 204
}
