package restsource

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// guest is the context key of the address of a host that must not see the credentials.
type guest struct{}

// guestOf returns the address of the host that a request is for, if that must not see the
// credentials, or nil.
func guestOf(ctx context.Context) *url.URL {
	u, _ := ctx.Value(guest{}).(*url.URL)
	return u
}

// all returns the parameters of an endpoint without those of its pages. Those of an export
// were sent when it was begun.
func (e *endpoint) all() url.Values {
	if e.file != nil {
		return url.Values{}
	}
	return paramsOf(e.fixed, e.params)
}

// export starts the export of a table with a Job, unless it has one. It returns the
// context of the requests for it.
func (x *session) export(ctx context.Context, e *endpoint) (context.Context, error) {
	j := &e.Job
	if j.Create == "" {
		return ctx, nil
	}
	if e.file == nil {
		if err := x.makeExport(ctx, e); err != nil {
			return ctx, err
		}
	}
	if !sameOrigin(e.file, x.address) {
		ctx = context.WithValue(ctx, guest{}, e.file)
	}
	return ctx, nil
}

func (x *session) makeExport(ctx context.Context, e *endpoint) error {
	j := &e.Job
	fault := func(problem string) error { return &formError{e.Name, "Job: " + problem} }
	job := ""
	path := func(text string) (string, error) {
		return template(text).expand(func(name string) (string, error) {
			if name == "job" {
				return segment(job)
			}
			return x.inPath(e.table, e.parent, e.part, name)
		})
	}
	params := e.all()
	var body []byte
	var err error
	if e.Body != nil {
		body, err = e.Body(params)
	} else {
		members := map[string]any{}
		for name, values := range params {
			if members[name] = values; len(values) == 1 {
				members[name] = values[0]
			}
		}
		body, err = json.Marshal(members)
	}
	if err != nil {
		return err
	}
	ask := func(text string, body []byte, member string) (*answer, string, error) {
		p, err := path(text)
		if err != nil {
			return nil, "", err
		}
		a, err := x.send(ctx, e.Name, x.at(p, nil), body)
		if err == nil {
			err = a.refused(e.Name)
		}
		if err != nil {
			return nil, "", err
		}
		return a, memberOf(a.body, member), nil
	}
	if _, job, err = ask(j.Create, append([]byte{}, body...), cmp.Or(j.ID, "id")); err != nil {
		return err
	}
	if job == "" {
		return fault("there is no id in the answer of Create; check ID")
	}
	for {
		a, state, err := ask(j.Status, nil, cmp.Or(j.State, "status"))
		if err != nil {
			return err
		}
		done, known := j.Done[state]
		switch {
		case !known:
			return fault("the export is in a state that Done does not name, so it may have failed")
		case done:
			e.file, err = x.fileOf(j, a, path)
			if err == nil && e.file == nil {
				err = fault("the file is at no address of the API, and at none whose host is one of Hosts")
			}
			return err
		}
		wait, stated := retryAfter(a.header, time.Now())
		if !stated || wait <= 0 {
			wait = cmp.Or(j.Every, 2*time.Second)
		}
		if !sleep(ctx, wait) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return &explained{
				connector.UpstreamTimeout("The API is still making the rows of table %s. Try again later, or ask for less.",
					terms.QuoteName(e.Name)),
				fmt.Errorf("restsource: %s: the export is not there, and the deadline comes before the next question", about(e.Name)),
			}
		}
	}
}

// fileOf returns the address of an export, or nil if it must not be asked.
func (x *session) fileOf(j *Job, a *answer, path func(string) (string, error)) (*url.URL, error) {
	if strings.HasPrefix(j.Download, "/") {
		p, err := path(j.Download)
		return x.at(p, nil), err
	}
	text := memberOf(a.body, j.Download)
	u, err := a.url.Parse(text)
	if err != nil || text == "" || text == "true" || text == "false" {
		return nil, nil
	}
	if sameOrigin(u, x.address) || x.listed(u, j.Hosts) {
		return u, nil
	}
	return nil, nil
}

// memberOf returns the text, the number or the boolean at a member path, or "".
func memberOf(body []byte, path string) string {
	found, err := newPicker(splitPath(path)).parse(string(body), 1)
	if err != nil || found[0].None() || found[0].Kind == textvalue.Array || found[0].Kind == textvalue.Object {
		return ""
	}
	return found[0].Text
}

// downloads reports whether a table is downloaded from another host than that of the API.
func (s *Source) downloads() bool {
	return slices.ContainsFunc(s.order, func(t *table) bool { return len(t.Job.Hosts) > 0 })
}

// faults checks a Job.
func (j *Job) faults(t *table, fault func(string, ...any)) {
	for _, path := range []string{j.Create, j.Status} {
		if !strings.HasPrefix(path, "/") {
			fault("job: Create and Status are paths, and begin with a slash")
		}
	}
	if len(j.Done) == 0 || j.Download == "" || t.Path != "" || t.GraphQL != "" || len(t.Sorts) > 0 || j.Every < 0 {
		fault("job: it needs Done and Download, and takes the place of Path; there are no Sorts")
	}
}
