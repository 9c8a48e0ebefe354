package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// digest returns the SHA-256 of the content of tables in hexadecimal digits, as in the
// manifest. Two corpora with one digest have the same tables with the same descriptions
// and the same rows in the same order.
//
// The hash is over lines, each followed by a line feed: for every table except
// the manifest, its description as discovery answers it, then each row as a JSON
// array of its cells as on the wire. The cases are not part of it.
func digest(tables []Table) string {
	sum := sha256.New()
	for _, t := range tables {
		description, err := wire.EncodeAnswer(&wire.Discovery{Tables: []wire.Table{t.Table}})
		if err != nil {
			panic(fmt.Errorf("corpus: table %s: %w", t.Name, err))
		}
		sum.Write(append(description, '\n'))
		for _, row := range t.Rows {
			line, err := json.Marshal(row)
			if err != nil {
				panic(fmt.Errorf("corpus: table %s: %w", t.Name, err))
			}
			sum.Write(append(line, '\n'))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
