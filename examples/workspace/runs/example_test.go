package runs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/runs"
)

// A run is started, followed to its end, and asked for what it concluded.
func Example() {
	ctx := context.Background()
	client, err := runs.New("https://platform.example.com", "svc_wf_...", nil)
	if err != nil {
		log.Fatal(err)
	}
	run, err := client.Trigger(ctx, "wf_1", runs.Trigger{
		// The step node_2 asks a person. Its answer is known already.
		Inputs: map[string]runs.Input{"node_2": {Text: "Approved"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range client.Follow(ctx, run.RunID) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Type)
	}
	status, err := client.Status(ctx, run)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.State, status.Summary)
}
