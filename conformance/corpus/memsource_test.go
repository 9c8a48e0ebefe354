package corpus_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMemsourceAnswersEveryCase checks that a memsource over the corpus answers
// what the cases expect, over HTTP and through the strict client. The cases and
// the oracle are independent of it.
func TestMemsourceAnswersEveryCase(t *testing.T) {
	var tables []memsource.Table
	rows := oracle.Tables{}
	for _, table := range corpus.Tables() {
		tables = append(tables, memsource.Table(table))
		rows[table.Name] = &oracle.Table{Name: table.Name, Columns: table.Columns(), PrimaryKey: table.PrimaryKey, Rows: table.Rows}
	}
	src, err := memsource.New(tables, nil)
	require.NoError(t, err)
	tenant := connectortest.Start(t, connector.Definition{Slug: "corpus"}, src, nil).As(nil).Unverified()
	answers := corpus.Answers(t)
	for i, c := range corpus.Cases() {
		if !testrun.Runs(i, 3) {
			continue
		}
		want, answered := answers[c.Name]
		require.True(t, answered, c.Name)
		if err := ask(tenant, rows, c, want); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// ask sends a case and returns an error if the answer differs.
func ask(tenant *connectortest.Tenant, rows oracle.Tables, c corpus.Case, want corpus.Answer) error {
	switch r := c.Request.(type) {
	case *wire.QueryRequest:
		answer, err := tenant.Query(*r)
		if err != nil {
			return err
		}
		if d := oracle.Verify(rows, r, answer.Rows); d != nil {
			return errors.New(d.String())
		}
		return equal(len(want.Rows), len(answer.Rows))
	case *wire.CountRequest:
		count, err := tenant.Count(*r)
		return errors.Join(err, equal(want.Count, count))
	case *wire.AggregateRequest:
		groups, err := tenant.Aggregate(*r)
		if want.TooMany {
			if wire.CodeOf(err) != wire.CodeUnsupported && !errors.Is(err, connector.ErrDecline) {
				return fmt.Errorf("%d groups and %v, instead of a refusal", len(groups), err)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if d := oracle.VerifyGroups(rows, r, groups); d != nil {
			return errors.New(d.String())
		}
		return equal(len(want.Rows), len(groups))
	case *wire.SizeRequest:
		size, err := tenant.Size(r.Table)
		return errors.Join(err, equal(want.Size, size))
	case *wire.CardinalityRequest:
		counts, err := tenant.Cardinality(r.Table, r.Columns...)
		return errors.Join(err, equal(want.Cardinality, counts))
	case *wire.LinkHitRateRequest:
		link, err := tenant.LinkHitRate(*r)
		return errors.Join(err, equal(want.LinkHitRate, link))
	}
	return fmt.Errorf("a %T is not a request of a case", c.Request)
}

func equal(want, got any) error {
	if !assert.ObjectsAreEqual(want, got) {
		return fmt.Errorf("expected %+v, received %+v", want, got)
	}
	return nil
}
