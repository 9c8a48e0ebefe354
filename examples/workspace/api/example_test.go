package api_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/url"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
)

// The methods cover what the document shows with all its fields.
func ExampleClient_Workflows() {
	ctx := context.Background()
	client, err := api.New("https://platform.example.com", "an-access-token", nil)
	if err != nil {
		log.Fatal(err)
	}
	for workflow, err := range client.Workflows(ctx, url.Values{"status": {"active"}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(workflow.Name, workflow.LastRun)
	}
}

// Every other endpoint is called by its method and path.
func ExampleCall() {
	ctx := context.Background()
	client, err := api.New("https://platform.example.com", "an-access-token", nil)
	if err != nil {
		log.Fatal(err)
	}
	agent, err := api.Call[map[string]any](ctx, client, "POST /api/v2/assistant/agents", &api.Args{
		Body: map[string]string{"name": "Reader"},
	})
	var refused *api.Error
	switch {
	case errors.As(err, &refused) && refused.Field != "":
		fmt.Println("correct the field", refused.Field)
	case err != nil:
		log.Fatal(err)
	}
	fmt.Println(agent)
}
