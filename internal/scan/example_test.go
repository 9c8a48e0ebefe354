package scan_test

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
)

func ExampleScanner() {
	s := scan.New([]byte(`{"name": "orders", "rows": 3}`))
	s.Expect('{')
	for first := true; s.Err() == nil && !s.Skip('}'); first = false {
		if !first {
			s.Expect(',')
		}
		name := s.String()
		s.Expect(':')
		fmt.Println(name, s.Scalar())
	}
	s.End()
	fmt.Println(s.Err())

	s = scan.New([]byte(`"half of a pair: \ud83d"`))
	_ = s.String()
	fmt.Println(s.Err())
	// Output:
	// name orders
	// rows 3
	// <nil>
	// invalid JSON at byte 17: half of a surrogate pair
}
