// Package ndjson writes and reads the answer of /query: a stream of lines, each
// one JSON object of one of five kinds.
//
//	{"served":{"filters":true,"sort":true,"window":false}}
//	{"rows":[{"id":1,"name":"Amelia"},{"id":2,"name":null}]}
//	{"ping":1}
//	{"end":1}
//
// or, at the end of one that failed,
//
//	{"error":{"code":"timeout","message":"no row for 30 seconds"}}
//
// A connector does not need this package: package connector writes the stream
// for it. It is for clients of a connector, for tests, and for servers that do
// not use package connector.
//
// The first line says what was served: which parts of the request the rows
// already obey. The window is the part of the result that limit and offset
// select.
//
// # Writing
//
// A [Writer] collects rows into lines and writes the lines around them. It
// refuses a line that is out of order.
//
//	w := ndjson.NewWriter(out)
//	if err := w.Begin(wire.Served{Filters: true, Sort: true}, "id", "name"); err != nil {
//		return err
//	}
//	for _, c := range customers {
//		if err := w.Row(wire.Int(c.ID), wire.Text(c.Name)); err != nil {
//			return err
//		}
//	}
//	return w.End()
//
// # Reading
//
// A [Reader] is strict, because the other side is not trusted: a stream that was
// cut or damaged is an error and never looks complete. Most callers want only the
// rows:
//
//	r := ndjson.NewReader(resp.Body)
//	for row, err := range r.Rows() {
//		if err != nil {
//			return err // a *wire.Error from an error line, else a *ndjson.LineError
//		}
//		name, _ := row.Get("name")
//		fmt.Println(name)
//	}
//	// No error: the stream came to its end, and these were all its rows.
//
// Where the protocol leaves room, the reader is this strict:
//
//   - A stream without a served line is legal and claims nothing; pings may come
//     before it. A claim that makes no sense (a window without filters and sort)
//     is passed on as it is.
//   - Rows of one line may have different members, or the same in another
//     order; [Row.Get] finds them by name.
//   - A ping and an end are the number 1, however spelled (1.0, 10e-1).
//   - Blanks within a line mean nothing, a carriage return before the newline
//     included. A blank line is an error, except one after the last line.
//   - The last line may lack its newline, since its object is complete. Any
//     other line without one was cut.
//   - The stream must be read to its end after the end line: until then,
//     something may still follow, or the connection may have been cut. A
//     caller bounds that wait as it bounds every other, with a deadline on the
//     connection or a context of the request.
//
// Errors name the line, counted from 1, and the place in it, for example
// rows[17]; they never quote the line.
package ndjson
