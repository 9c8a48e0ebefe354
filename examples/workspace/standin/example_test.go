package standin_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/standin"
)

// A test serves the stand-in and calls it as it would call the service.
func ExampleNew() {
	service := standin.New(standin.Options{})
	defer service.Close()
	server := httptest.NewServer(service)
	defer server.Close()

	request, err := http.NewRequest("GET", server.URL+"/v1/dashboards?limit=1", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	request.Header.Set("Authorization", "Bearer "+standin.DefaultAccounts()[0].Token)
	response, err := server.Client().Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(response.Status, "left:", response.Header.Get("X-RateLimit-Remaining"))
	fmt.Print(string(body))
	// Output:
	// 200 OK left: 59
	// {"data":[{"id":"dashboard_1","name":"Usage","created_at":"2026-04-12T07:26:08Z"}]}
}
