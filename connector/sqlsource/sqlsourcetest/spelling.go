package sqlsourcetest

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// spell returns a row as it is sent.
func spell(row []wire.Value) string {
	var b []byte
	for _, v := range row {
		var err error
		if b, err = v.AppendJSON(b); err != nil {
			b = append(b, "INVALID"...)
		}
		b = append(b, '\t')
	}
	return string(b)
}

// spellAll returns rows as they are sent.
func spellAll(rows [][]wire.Value) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = spell(row)
	}
	return list
}

// without returns the multiset a without b.
func without(a, b []string) []string {
	count := map[string]int{}
	for _, s := range b {
		count[s]++
	}
	var left []string
	for _, s := range a {
		if count[s]--; count[s] < 0 {
			left = append(left, s)
		}
	}
	return left
}

// some returns the first of a list, each on a line of its own.
func some(list []string) string {
	if len(list) > 5 {
		list = append(slices.Clone(list[:5]), "...")
	}
	return "\n\t" + strings.Join(list, "\n\t")
}
