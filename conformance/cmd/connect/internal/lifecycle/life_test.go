package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// keyed returns a connector that follows the protocol and asks for an API key.
func keyed() http.Handler {
	return connectors.Handler(goodToken, connectors.Tables(connectors.Planets()), connectors.Key)
}

// inProcess grades the handler instead of what stands at the URL.
func inProcess(t *testing.T, h http.Handler, seen func(conformance.Target)) lifecycle.Grade {
	t.Helper()
	target, stop := conformance.InProcess(h, goodToken)
	t.Cleanup(stop)
	return func(ctx context.Context, asked conformance.Target, o *conformance.Options) (*conformance.Report, error) {
		if seen != nil {
			seen(asked)
		}
		own := target
		own.Token, own.Credentials = asked.Token, asked.Credentials
		return conformance.Run(ctx, own, o)
	}
}

// typed returns a form in which everything is filled in.
func typed(t *testing.T, h http.Handler, key string) *lifecycle.Form {
	t.Helper()
	f := read(t, h, "https://connector.test")
	f.SetCredential("apiKey", key)
	return f
}

// await returns the status that the source has when its run has ended.
func await(s *lifecycle.Source) lifecycle.Status {
	for {
		status, changed := s.Status()
		if status.Report != nil || status.Problem != "" {
			return status
		}
		<-changed
	}
}

// TestLife connects a good and a broken connector, each graded by the conformance program.
func TestLife(t *testing.T) {
	tooLarge := testkit.OnPath(keyed(), wire.PathSize, testkit.JSON(200, `{"size": {"rows": 4, "exact": true}}`))
	for _, c := range []struct {
		name  string
		h     http.Handler
		state lifecycle.State
		why   string
	}{
		{"good", keyed(), lifecycle.Conformant, "no check fails"},
		{"broken", tooLarge, lifecycle.Failed, "an exact size that is not the number of rows"},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			o := inProcess(t, c.h, func(asked conformance.Target) {
				require.Equal(t, "https://connector.test", asked.URL)
				require.True(t, asked.Public, "the platform refuses private addresses, in the run too")
				require.Equal(t, goodToken, asked.Token.Reveal())
				require.Equal(t, map[string]string{"apiKey": "sk-1"}, asked.Credentials[0].Reveal(), "what was typed")
			})
			f := typed(t, c.h, "sk-1")
			s := testkit.Must(lifecycle.Add(t.Context(), f, o))(t)
			defer s.Close()
			status, _ := s.Status()
			require.Equal(t, lifecycle.Verifying, status.State, "the run goes on in the background")
			require.Equal(t, "planets", s.Name(), "the form has no name")
			require.Same(t, f.Document(), s.Document(), "the document is kept")

			status = await(s)
			require.Equal(t, c.state, status.State, c.why)
			require.Equal(t, conformance.ModeLive, status.Report.Mode)
			require.Empty(t, status.Problem)
			require.NotZero(t, status.Progress.Planned, "the latest step")
			if c.state == lifecycle.Conformant {
				require.Empty(t, status.Detail)
				return
			}
			failures := status.Report.Failures()
			require.Equal(t, failures[0].Detail, status.Detail, "the tooltip has the detail of the first")
		})
	}
}

// TestTwoAccounts connects a connector with a second account. It is graded with both, and no verdict that keeps them
// apart rests on accounts that see the same rows.
func TestTwoAccounts(t *testing.T) {
	other := connectors.Planets()
	for _, row := range other.Rows {
		row[0] = wire.Text(row[0].Text() + " of another sun")
	}
	own, others := keyed(), connectors.Handler(goodToken, connectors.Tables(other), connectors.Key)
	apart := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bytes.Contains(testkit.Body(r), []byte(`"sk-2"`)) {
			others.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	})
	for _, c := range []struct {
		name    string
		h       http.Handler
		second  string
		state   lifecycle.State
		problem string
	}{
		{"two that differ", apart, "sk-2", lifecycle.Conformant, ""},
		{"two that see the same rows", own, "sk-2", lifecycle.Verifying, "NOT GRADED FOR TENANTS: both accounts see the same rows"},
		{"one alone", own, "", lifecycle.Conformant, ""},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			asked := 0
			f := typed(t, c.h, "sk-1")
			f.SetSecond("apiKey", c.second)
			s, err := lifecycle.Add(t.Context(), f, inProcess(t, c.h, func(target conformance.Target) { asked = len(target.Credentials) }))
			require.NoError(t, err)
			defer s.Close()
			status := await(s)
			require.Equal(t, c.state, status.State, status.Detail)
			require.Contains(t, status.Problem, c.problem)
			require.Equal(t, c.problem == "", status.Problem == "")
			require.Equal(t, c.second != "", asked == 2)
			_, first := s.Client()
			require.Equal(t, "sk-1", first.Get("apiKey"), "tables are shown of the first account")
		})
	}
}

// TestVerdicts looks at reports that few connectors give rise to.
func TestVerdicts(t *testing.T) {
	outcomes := func(n int, v conformance.Verdict) (list []conformance.Outcome) {
		for i := range n {
			list = append(list, conformance.Outcome{
				Check: conformance.Check{ID: fmt.Sprint("X", i), Title: "title"}, Verdict: v, Detail: fmt.Sprint("detail ", i)})
		}
		return list
	}
	for _, c := range []struct {
		name         string
		report       *conformance.Report
		err          error
		state        lifecycle.State
		problem, why string
	}{
		{name: "twelve", report: &conformance.Report{Outcomes: outcomes(12, conformance.Fail)}, state: lifecycle.Failed},
		{name: "advice", report: &conformance.Report{Outcomes: outcomes(3, conformance.Advise)}, state: lifecycle.Conformant,
			why: "advice is no failure"},
		{name: "all skipped", report: &conformance.Report{Outcomes: outcomes(3, conformance.Skip)}, state: lifecycle.Conformant,
			why: "no check failed: that is all that the protocol asks for"},
		{name: "cut short", report: &conformance.Report{Outcomes: outcomes(3, conformance.Pass), Problem: "the run was interrupted"},
			state: lifecycle.Verifying, problem: "the run was interrupted", why: "a run that did not end moves the source nowhere"},
		{name: "cut short after a failure", report: &conformance.Report{Outcomes: outcomes(1, conformance.Fail), Problem: "cut"},
			state: lifecycle.Failed, why: "a check has failed, whatever the others would have said"},
		{name: "no run", err: errors.New("it could not begin"), state: lifecycle.Verifying, problem: "it could not begin"},
	} {
		testkit.Bubble(t, c.name, func(t *testing.T) {
			s := testkit.Must(lifecycle.Add(t.Context(), typed(t, keyed(), "sk-1"),
				func(context.Context, conformance.Target, *conformance.Options) (*conformance.Report, error) {
					return c.report, c.err
				}))(t)
			defer s.Close()
			status := await(s)
			require.Equal(t, c.state, status.State, c.why)
			require.Equal(t, c.problem, status.Problem, c.why)
			if c.state == lifecycle.Failed {
				require.Equal(t, "detail 0", status.Detail)
			} else {
				require.Empty(t, status.Detail)
			}
		})
	}
}

// TestLifeIncomplete adds a form for local work, and forms that lack something.
func TestLifeIncomplete(t *testing.T) {
	local := typed(t, keyed(), "sk-1")
	local.SetLocal(true)
	require.NoError(t, local.Read(t.Context()))
	s := testkit.Must(lifecycle.Add(t.Context(), local,
		func(_ context.Context, asked conformance.Target, _ *conformance.Options) (*conformance.Report, error) {
			require.False(t, asked.Public, "local work was asked for")
			return &conformance.Report{}, nil
		}))(t)
	await(s)
	s.Close()
	require.True(t, s.Reconnect().Local(), "and is asked for again")

	_, err := lifecycle.Add(t.Context(), newForm(t, keyed()), conformance.Run)
	require.ErrorContains(t, err, "read the connector first")
	_, err = lifecycle.Add(t.Context(), typed(t, keyed(), ""), conformance.Run)
	require.EqualError(t, err, "API key is required.")
}

// TestVerifyAgain grades a source three times. Each report stays beside the next one, until the source
// is bound to another form: what was found with one tenant's credentials is not shown to another.
func TestVerifyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, third := &conformance.Report{Seed: 1}, &conformance.Report{Seed: 3}
		runs := make(chan *conformance.Report, 4) // nil is a run that does not begin
		for _, r := range []*conformance.Report{first, nil, third, {Seed: 4}} {
			runs <- r
		}
		s := testkit.Must(lifecycle.Add(t.Context(), typed(t, keyed(), "sk-1"),
			func(_ context.Context, asked conformance.Target, _ *conformance.Options) (*conformance.Report, error) {
				require.Equal(t, "sk-1", asked.Credentials[0].Get("apiKey"))
				time.Sleep(time.Second) // not over before its state is looked at
				if r := <-runs; r != nil {
					return r, nil
				}
				return nil, errors.New("no run")
			}))(t)
		defer s.Close()
		require.Nil(t, await(s).Previous, "there was no run before")
		s.Verify()
		status, _ := s.Status()
		require.Equal(t, lifecycle.Verifying, status.State)
		require.Nil(t, status.Report)
		require.Same(t, first, status.Previous)
		require.Equal(t, "no run", await(s).Problem)
		s.Verify()
		status = await(s)
		require.Same(t, third, status.Report)
		require.Same(t, first, status.Previous, "a run without a report is not compared with")
		require.NoError(t, s.Rebind(t.Context(), typed(t, keyed(), "sk-1")))
		require.Nil(t, await(s).Previous)
	})
}

// TestLifeReconnect binds a source again while its first run is under way.
func TestLifeReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first, second []map[string]string
		grades := 0
		grade := func(ctx context.Context, asked conformance.Target, o *conformance.Options) (*conformance.Report, error) {
			grades++
			if grades > 1 {
				second = append(second, asked.Credentials[0].Reveal())
				time.Sleep(time.Second) // not over before its state is looked at
				return &conformance.Report{}, nil
			}
			first = append(first, asked.Credentials[0].Reveal())
			o.Progress(conformance.Event{ID: "P0.1", Planned: 3})
			<-ctx.Done()
			time.Sleep(time.Minute) // what it still has to clean up
			o.Progress(conformance.Event{ID: "P0.2", Planned: 3})
			return &conformance.Report{Outcomes: []conformance.Outcome{{Verdict: conformance.Fail}}}, nil
		}
		form := typed(t, keyed(), "first-key")
		form.SetName("Planets")
		s := testkit.Must(lifecycle.Add(t.Context(), form, grade))(t)
		defer s.Close()
		synctest.Wait()
		status, _ := s.Status()
		require.Equal(t, "P0.1", status.Progress.ID)

		again := s.Reconnect()
		require.Equal(t, "Planets", again.Name())
		require.Equal(t, "https://connector.test", again.URL())
		require.True(t, again.HasToken(), "it belongs to the host, not to the tenant")
		require.Nil(t, again.Document(), "the document is read again")
		require.False(t, again.HasCredential("apiKey"), "fresh credentials are taken")
		require.Error(t, s.Rebind(t.Context(), again), "the form is not filled in")
		status, _ = s.Status()
		require.Equal(t, "P0.1", status.Progress.ID, "a form that is refused changes nothing")

		require.NoError(t, again.Read(t.Context()))
		again.SetCredential("apiKey", "second-key")
		require.NoError(t, s.Rebind(t.Context(), again))
		status, _ = s.Status()
		require.Equal(t, lifecycle.Status{State: lifecycle.Verifying}, status, "nothing is left of the first run")
		require.Equal(t, lifecycle.Conformant, await(s).State)
		time.Sleep(2 * time.Minute)
		status, _ = s.Status()
		require.Equal(t, lifecycle.Conformant, status.State, "the first run's late result is dropped")
		require.Equal(t, []map[string]string{{"apiKey": "first-key"}}, first)
		require.Equal(t, []map[string]string{{"apiKey": "second-key"}}, second)
		_, credentials := s.Client()
		require.Equal(t, map[string]string{"apiKey": "second-key"}, credentials.Reveal())
		require.NotContains(t, fmt.Sprintf("%+v %#v", s, s), "second-key")
	})
}

// TestLifeClose ends a run that is under way.
func TestLifeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		s := testkit.Must(lifecycle.Add(t.Context(), typed(t, keyed(), "sk-1"),
			func(ctx context.Context, _ conformance.Target, _ *conformance.Options) (*conformance.Report, error) {
				<-ctx.Done()
				time.Sleep(time.Second)
				ended = true
				return nil, ctx.Err()
			}))(t)
		s.Close()
		require.True(t, ended, "Close waits for the run")
		status, _ := s.Status()
		require.Equal(t, lifecycle.Status{State: lifecycle.Verifying}, status)
	})
}

// TestStates spells the states as the protocol does.
func TestStates(t *testing.T) {
	require.Equal(t, "verifying, conformant, failed conformance",
		strings.Join([]string{string(lifecycle.Verifying), string(lifecycle.Conformant), string(lifecycle.Failed)}, ", "))
}
