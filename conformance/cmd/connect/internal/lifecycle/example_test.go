package lifecycle_test

import (
	"context"
	"fmt"
	"log"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A connector is connected as a person does it at the platform's form. Here it runs in the same
// process; a real one needs neither HTTP nor Grade.
func ExampleAdd() {
	const secret = "a-token-of-thirty-two-characters"
	source, err := memsource.New([]memsource.Table{{
		Table: wire.Table{Name: "planets", StoresRows: true, PrimaryKey: []string{"name"},
			Fields: []wire.Field{{Name: "name", Type: wire.TypeString, Unique: true}, {Name: "moons", Type: wire.TypeNumber}}},
		Rows: [][]wire.Value{{wire.Text("Earth"), wire.Int(1)}, {wire.Text("Mars"), wire.Int(2)}},
	}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	token, err := wire.NewToken(secret)
	if err != nil {
		log.Fatal(err)
	}
	handler, err := connector.New(connector.Definition{Slug: "planets"}, source, token, nil)
	if err != nil {
		log.Fatal(err)
	}
	client, stop := memlisten.Client(handler)
	defer stop()
	target, stopTarget := conformance.InProcess(handler, secret)
	defer stopTarget()

	form := lifecycle.NewForm(&platform.Options{HTTP: client})
	form.SetURL("https://connect.example.com")
	form.SetToken("not-the-token-of-this-connector-at-all")
	fmt.Println(form.Read(context.Background()))
	form.SetToken(secret)
	fmt.Println(form.Read(context.Background()), form.WhyNotTest() == "")

	s, err := lifecycle.Add(context.Background(), form,
		func(ctx context.Context, _ conformance.Target, o *conformance.Options) (*conformance.Report, error) {
			return conformance.Run(ctx, target, o)
		})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	status, changed := s.Status()
	fmt.Println(s.Name(), status.State)
	for status.State == lifecycle.Verifying && status.Problem == "" {
		<-changed
		status, changed = s.Status()
	}
	fmt.Println(s.Name(), status.State)
	// Output:
	// The connector rejected the token
	// <nil> true
	// planets verifying
	// planets conformant
}
