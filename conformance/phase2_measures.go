package conformance

import (
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// measure posts a request to a route that answers JSON and decodes the answer;
// the result says why there is none to judge.
func (x *exam) measure(f *fixture, path, schema string, req, into wire.Message) (*answer, result) {
	a := x.post(path, req)
	if a.err == nil && a.status == wire.CodeUnsupported.Status() {
		if why := x.refusable(f, req); why != "" {
			return a, declined("refused with 422: %s", why)
		}
	}
	if found := a.decode(schema, into); found != nil {
		return a, failed(found)
	}
	return a, result{}
}

func wrongNumber(a *answer, what string, want, got int64) result {
	return failed(&finding{detail: "another " + what, expected: fmt.Sprint(want), received: fmt.Sprint(got), request: a.request})
}

func (x *exam) judgeCount(f *fixture, req wire.CountRequest) result {
	want, err := oracle.Count(f.truth, &req)
	if err != nil {
		return declined("there is no right answer: %v", err)
	}
	var got wire.CountAnswer
	a, r := x.measure(f, wire.PathCount, "count-answer", &req, &got)
	if r != (result{}) || got.Count == want {
		return r
	}
	if by := x.operatorExplains(f, req.Table, req.And, req.Or); by != "" {
		return blocked(by, "an operator finds other rows")
	}
	// An or block that is dropped is for the check about it.
	if without := (&wire.CountRequest{Table: req.Table, Where: wire.Where{And: req.And, FieldTypes: req.FieldTypes}}); len(req.Or) > 0 && x.check.ID != "P2.10c" {
		if n, err := oracle.Count(f.truth, without); err == nil && n == got.Count {
			return blocked("P2.10c", "the or block is not applied")
		}
	}
	return wrongNumber(a, "count of table "+req.Table, want, got.Count)
}

func (x *exam) judgeAggregate(f *fixture, req wire.AggregateRequest) result {
	right, err := oracle.Aggregate(f.truth, &req)
	if err != nil {
		return declined("there is no exact answer: %v", err)
	}
	var got wire.AggregateAnswer
	a := x.post(wire.PathAggregate, &req)
	over := int64(len(right.Rows)) >= req.Limit
	switch {
	case a.err == nil && a.status == http.StatusNoContent:
		// Declining is always legal; where there are too many groups it is even
		// what is asked for.
		if over {
			return result{}
		}
		return declined("the aggregate is declined with 204")
	case over && a.status >= 400 && a.status < 500 && a.refusal() != nil:
		return result{}
	case a.status == wire.CodeUnsupported.Status():
		if why := x.refusable(f, &req); why != "" {
			return declined("refused with 422: %s", why)
		}
	}
	if found := a.decode("aggregate-answer", &got); found != nil {
		return failed(found)
	}
	if over {
		if len(got.Rows) < len(right.Rows) {
			return failed(&finding{detail: fmt.Sprintf("table %s: the groups are cut", req.Table), expected: fmt.Sprintf("%d groups, or a refusal with 422, or 204", len(right.Rows)),
				received: fmt.Sprintf("%d groups", len(got.Rows)), request: a.request})
		}
	}
	d := x.verifyGroups(f, &req, got.Rows)
	if d == nil {
		return result{}
	}
	if by := x.groupsExplain(f, &req, got.Rows); by != "" && by != x.check.ID {
		return blocked(by, d.Detail)
	}
	if by := x.operatorExplains(f, req.Table, req.And, req.Or); by != "" {
		return blocked(by, "an operator finds other rows")
	}
	return failed(difference(d, a.request))
}

// verifyGroups is verify for aggregates.
func (x *exam) verifyGroups(f *fixture, req *wire.AggregateRequest, rows []map[string]wire.Value) *oracle.Difference {
	d := oracle.VerifyGroups(f.truth, req, rows)
	if d == nil || x.check.Advice {
		return d
	}
	for _, reading := range oracle.Readings() {
		if reading.VerifyGroups(f.truth, req, rows) == nil {
			return nil
		}
	}
	return d
}

// groupsExplain finds the check of P2.11 that a wrong aggregate belongs to: that
// of the function that is wrong, of filters that are not applied, or of null
// keys that are lost.
func (x *exam) groupsExplain(f *fixture, req *wire.AggregateRequest, rows []map[string]wire.Value) string {
	other := *req
	other.And, other.Or = nil, nil
	if len(req.And)+len(req.Or) > 0 && x.verifyGroups(f, &other, rows) == nil {
		return "P2.11o"
	}
	other = *req
	other.And = slices.Clone(req.And)
	for _, g := range req.GroupBy {
		other.And = append(other.And, wire.Filter{Field: g.Field, Op: wire.OpNotNull})
	}
	if len(req.GroupBy) > 0 && x.verifyGroups(f, &other, rows) == nil {
		return "P2.11g"
	}
	functions := []struct {
		check string
		of    func(wire.Measure) bool
	}{
		{"P2.11c", func(m wire.Measure) bool { return m.Fn == wire.FnSum }},
		{"P2.11d", func(m wire.Measure) bool { return m.Fn == wire.FnMin || m.Fn == wire.FnMax }},
		{"P2.11e", func(m wire.Measure) bool { return m.Fn == wire.FnCountDistinct }},
		{"P2.11b", func(m wire.Measure) bool { return m.Fn == wire.FnCount && m.Field != "" }},
	}
	for _, fn := range functions {
		other = *req
		other.Measures = slices.DeleteFunc(slices.Clone(req.Measures), fn.of)
		if len(other.Measures) < len(req.Measures) && len(other.Measures)+len(other.GroupBy) > 0 && x.verifyGroups(f, &other, rows) == nil {
			return fn.check
		}
	}
	return ""
}

func (x *exam) judgeSize(f *fixture, req wire.SizeRequest) result {
	var got wire.SizeAnswer
	a, r := x.measure(f, wire.PathSize, "size-answer", &req, &got)
	want := int64(len(f.truth[req.Table].Rows))
	switch {
	case r != (result{}):
		return r
	case got.Size == nil:
		return declined("the size is unknown (null)")
	case !got.Size.Exact:
		return declined("the size is an estimate, and marked as one")
	case got.Size.Rows == want:
		return result{}
	}
	// Estimates show by being round; whoever miscounts is seldom so lucky.
	by := "P2.12a"
	if got.Size.Rows != 0 && got.Size.Rows%10 == 0 {
		by = "P2.12b"
	}
	if by != x.check.ID {
		return blocked(by, fmt.Sprintf("the size of table %s is wrong", req.Table))
	}
	return wrongNumber(a, fmt.Sprintf("size of table %s, which is called exact", req.Table), want, got.Size.Rows)
}

func (x *exam) judgeCardinality(f *fixture, req wire.CardinalityRequest) result {
	var got wire.CardinalityAnswer
	a, r := x.measure(f, wire.PathCardinality, "cardinality-answer", &req, &got)
	if r != (result{}) {
		return r
	}
	judged := 0
	for _, column := range req.Columns {
		want, err := oracle.Cardinality(f.truth[req.Table], column)
		if err != nil {
			return declined("there is no right answer: %v", err)
		}
		least, greatest, err := oracle.DistinctRange(f.truth[req.Table], column)
		if err != nil || x.check.Advice {
			least, greatest = want.Distinct, want.Distinct
		}
		n, answered := got.Columns[column]
		switch {
		case !answered:
			return failed(&finding{detail: fmt.Sprintf("table %s: column %s is asked for and not answered", req.Table, column), expected: "its counts, or null", request: a.request})
		case n == nil:
			continue
		}
		judged++
		name := fmt.Sprintf("of %s.%s", req.Table, column)
		switch {
		case n.NonNull != want.NonNull && x.check.ID != "P2.13b" && !x.check.Advice:
			return wrongNumber(a, "nonNull "+name, want.NonNull, n.NonNull)
		case (n.Distinct < least || n.Distinct > greatest) && x.check.ID != "P2.13a":
			return wrongNumber(a, "distinct "+name, want.Distinct, n.Distinct)
		}
	}
	if judged == 0 {
		return declined("no column is counted (null)")
	}
	return result{}
}

func (x *exam) judgeLink(f *fixture, req wire.LinkHitRateRequest) result {
	want, err := oracle.LinkHitRate(f.truth, &req)
	if err != nil {
		return declined("there is no right answer: %v", err)
	}
	var got wire.LinkHitRate
	a, r := x.measure(f, wire.PathLinkHitRate, "link-hit-rate-answer", &req, &got)
	if r != (result{}) {
		return r
	}
	what := fmt.Sprintf(" from %s.%s to %s.%s", req.FromTable, req.FromColumn, req.ToTable, req.ToColumn)
	switch x.check.ID {
	case "P2.14b":
		// Of the answer's own counts, whatever they are.
		rate := 0.0
		if got.FromNonNull > 0 {
			rate = float64(got.OrphanCount) / float64(got.FromNonNull)
		}
		if math.Abs(rate-got.OrphanRate) > 1e-6 {
			return failed(&finding{detail: "another orphanRate" + what, expected: fmt.Sprint(rate), received: fmt.Sprint(got.OrphanRate), request: a.request})
		}
		return result{}
	case "P2.14c":
		return x.judgeSamples(f, &req, want, &got, a)
	}
	if got.FromNonNull == want.FromNonNull && got.OrphanCount == want.OrphanCount {
		return result{}
	}
	if by := x.linkExplains(f, &req, &got); by != "" && by != x.check.ID {
		return blocked(by, "counts are wrong"+what)
	}
	if got.FromNonNull != want.FromNonNull {
		return wrongNumber(a, "fromNonNull"+what, want.FromNonNull, got.FromNonNull)
	}
	return wrongNumber(a, "orphanCount"+what, want.OrphanCount, got.OrphanCount)
}

// linkExplains finds the check of P2.14 that explains wrong counts.
func (x *exam) linkExplains(f *fixture, req *wire.LinkHitRateRequest, got *wire.LinkHitRate) string {
	as := func(t wire.Type) bool {
		other := oracle.Tables{}
		for _, name := range []string{req.FromTable, req.ToTable} {
			table := *f.truth[name]
			table.Columns = slices.Clone(table.Columns)
			for i := range table.Columns {
				table.Columns[i].Type = t
			}
			other[name] = &table
		}
		n, err := oracle.LinkHitRate(other, req)
		return err == nil && n.OrphanCount == got.OrphanCount && n.FromNonNull == got.FromNonNull
	}
	if as(wire.TypeString) || as(wire.TypeDecimal) {
		return "P2.14d"
	}
	right, err := oracle.LinkHitRate(f.truth, req)
	if err != nil {
		return ""
	}
	nulls := int64(len(f.truth[req.FromTable].Rows)) - right.FromNonNull
	rows := int64(len(f.truth[req.FromTable].Rows))
	if nulls > 0 && (got.FromNonNull == rows || got.OrphanCount == right.OrphanCount+nulls) {
		return "P2.14e"
	}
	return ""
}

// judgeSamples wants every sample to be the key of an orphan, spelled as rows
// may spell it.
func (x *exam) judgeSamples(f *fixture, req *wire.LinkHitRateRequest, want, got *wire.LinkHitRate, a *answer) result {
	if len(got.OrphanSamples) > wire.MaxOrphanSamples {
		return failed(&finding{detail: "more samples than an answer may have", expected: "at most 20", received: fmt.Sprint(len(got.OrphanSamples)), request: a.request})
	}
	from := f.truth[req.FromTable]
	column := from.Index(req.FromColumn)
	one := *from
	for _, sample := range got.OrphanSamples {
		known := slices.IndexFunc(from.Rows, func(row []wire.Value) bool {
			return !row[column].IsNull() && oracle.Same(row[column], wire.Text(sample), from.Columns[column].Type)
		})
		orphan := false
		if known >= 0 {
			one.Rows = from.Rows[known : known+1]
			tables := oracle.Tables{req.FromTable: &one}
			// A table linked to itself keeps its targets.
			if req.FromTable == req.ToTable {
				to := *from
				to.Name = from.Name + " to"
				tables[to.Name] = &to
				other := *req
				other.ToTable = to.Name
				n, err := oracle.LinkHitRate(tables, &other)
				orphan = err == nil && n.OrphanCount > 0
			} else {
				tables[req.ToTable] = f.truth[req.ToTable]
				n, err := oracle.LinkHitRate(tables, req)
				orphan = err == nil && n.OrphanCount > 0
			}
		}
		if !orphan {
			if want.OrphanCount != got.OrphanCount {
				return blocked("P2.14a", "another number of orphans")
			}
			return failed(&finding{detail: "a sample is not the key of an orphan", expected: fmt.Sprintf("some of %q", want.OrphanSamples[:min(5, len(want.OrphanSamples))]),
				received: excerpt(fmt.Appendf(nil, "%q", sample), 120), request: a.request})
		}
	}
	return result{}
}

// samplesOrdered advises about the order of samples.
func samplesOrdered(x *exam) {
	f := x.corpusServed()
	if why := needsRoute(wire.EndpointLinkHitRate)(x.document()); why != "" {
		x.skip(NotDeclared, "%s", why)
	}
	for _, c := range corpusCases()["P2.14c"] {
		if x.unaskable(f, c.Request).skip != "" {
			continue
		}
		req := *c.Request.(*wire.LinkHitRateRequest)
		var got wire.LinkHitRate
		a, r := x.measure(f, wire.PathLinkHitRate, "link-hit-rate-answer", &req, &got)
		if r != (result{}) || len(got.OrphanSamples) < 2 {
			continue
		}
		x.cases++
		sorted := slices.Clone(got.OrphanSamples)
		slices.Sort(sorted)
		if !slices.Equal(slices.Compact(sorted), got.OrphanSamples) {
			x.found(&finding{detail: "orphanSamples are not distinct texts in byte order", expected: excerpt(fmt.Appendf(nil, "%q", sorted), 200),
				received: excerpt(fmt.Appendf(nil, "%q", got.OrphanSamples), 200), request: a.request})
		}
	}
	if x.cases == 0 {
		x.skip(NoData, "no answer has two samples")
	}
}
