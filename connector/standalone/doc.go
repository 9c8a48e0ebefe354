// Package standalone runs one connector as a program of its own: it reads the
// bearer token and the port from the environment, prints where the connector is
// and requests to paste, and serves until the program is told to stop.
//
//	func main() {
//		standalone.Main(connector.Definition{Slug: "hello"}, source{}, nil)
//	}
//
// The environment of the program is the one of the protocol [rule tenant-5]:
//
//	PLATFORM_CONNECTOR_TOKEN  the bearer token, 32 characters or more; if it is
//	                          not set, one is made for this run and printed;
//	                          two, separated by a comma, while it is rotated
//	PORT                      the port, 8080 if it is not set; 0 takes any free one
//
// The program asks its own connector for the tables once, to print a request that
// names one. This is the first request in the log. If it fails, the program serves
// all the same, and prints a request without names. It does not ask when it serves
// https or when a tenant must give credentials, which it does not have.
//
// A [Program] does the same with flags, data or output of your own, or over https. Use
// [connector.New] and [connector.Serve] for anything else: several connectors on
// one host, routes of your own.
package standalone
