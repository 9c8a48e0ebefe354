package sqlite

import (
	"context"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/settings"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// Settings are the pragmas that are stated for each transaction. They stay with the connection.
var Settings = []settings.Setting{
	{Name: "case_sensitive_like", Value: "0", Why: "a view finds other texts by LIKE with it"},
	{Name: "reverse_unordered_selects", Value: "0", Why: "a view's LIMIT has other rows with it, and other rows decide a column's type"},
	{Name: "read_uncommitted", Value: "0", Why: "connections that share a cache see what may be rolled back"},
}

// Probe shows whether the driver returns a text as it is stored. It is asked of each transaction, because nothing
// else tells one connection from another.
const Probe = "SELECT '2024-02-29 12:00:00'"

// prepare states the settings, and requires that texts come as they are stored. Each is a statement,
// because not all drivers take several at once, and none leaves this process.
func prepare(ctx context.Context, q sqlengine.Queryer) error {
	for _, s := range Settings {
		if _, err := q.ExecContext(ctx, "PRAGMA "+s.Name+" = "+s.Value); err != nil {
			return err
		}
	}
	var text any
	err := q.QueryRowContext(ctx, Probe).Scan(&text)
	if _, isText := text.(string); err == nil && !isText {
		return fmt.Errorf("the driver returns a %T for the text of a time, so what is stored is lost: "+
			"open the database without _texttotime, or its like in another driver", text)
	}
	return err
}
