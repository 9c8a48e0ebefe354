package corpus

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
)

//go:embed readme.md
var readmeHead string

// asReadme returns a description of the corpus, table by table.
func asReadme(tables []Table) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s, version %s\n\n%s\n", tables[0].Rows[0][0], tables[0].Rows[0][1], readmeHead)
	for _, d := range dialects {
		fmt.Fprintf(&b, "- %s: `%s`\n", d.database, d.load)
	}
	b.WriteString("\n## Tables\n\n| Table | Rows | What it is |\n|---|---:|---|\n")
	for _, t := range tables {
		fmt.Fprintf(&b, "| [%s](#%s) | %d | %s |\n", t.Name, t.Name, len(t.Rows), t.SourceDescription)
	}
	for _, t := range tables {
		fmt.Fprintf(&b, "\n### %s\n\n%s %d rows. Primary key: %s.\n",
			t.Name, t.SourceDescription, len(t.Rows), strings.Join(t.PrimaryKey, ", "))
		for _, k := range t.ForeignKeys {
			fmt.Fprintf(&b, "Foreign key: %s to %s.%s.\n", k.Field, k.TargetTable, k.TargetField)
		}
		writeFields(&b, t)
	}
	slow := Slow()
	fmt.Fprintf(&b, "\n### %s (optional, not among the files)\n\n%s A connector whose source can be made to wait may serve it: ",
		slow.Name, slow.SourceDescription)
	for i, row := range slow.Rows {
		b.WriteString([]string{"", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "(%s, %s)", row[0], row[1])
	}
	b.WriteString(". The first row comes 25 seconds after the request, and so does a count, an aggregate or a measurement. " +
		"The program uses this table to judge heartbeats and deadlines; without it, those checks are skipped, and the report says so.\n")
	writeFields(&b, slow)
	return b.Bytes()
}

// writeFields writes the table of a table's fields.
func writeFields(b *bytes.Buffer, t Table) {
	b.WriteString("\n| Column | Type | Null | Unique | What it is |\n|---|---|---|---|---|\n")
	for _, f := range t.Fields {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", f.Name, f.Type, yes(f.Nullable), yes(f.Unique), f.SourceDescription)
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
