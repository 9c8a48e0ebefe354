// Package rowmap makes tables and rows of the values that a program in Go has:
//
//   - of structs. [Of] maps a struct type to columns, as its tags say. The mapping
//     describes the table, and makes rows of an iterator or a page of values.
//   - of documents, such as decoded JSON objects. [Infer] finds the columns, or you
//     state them; [OfferAll] offers the documents as rows.
//
// A source calls it in its Discover and Query. Package memsource serves structs
// that are all in memory without a source of your own (memsource.TableOf).
//
//	var orders, err = rowmap.Of[Order]() // when the source is built
//
//	func (s *source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
//		return out.Begin(orders.Columns()).All(orders.Rows(s.read(ctx)))
//	}
package rowmap
