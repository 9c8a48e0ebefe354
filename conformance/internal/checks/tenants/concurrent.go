package tenants

import (
	"context"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
)

// atOnce asks for both tenants at once, with as many requests as the document allows
// and at least two. Each question is asked for the one tenant and the other, beside
// other questions: first in one wording, then in several.
func atOnce(run *session.Run) *check.Finding {
	at := 4
	if most := run.Document.Capabilities.Limits.Concurrency; most > 0 {
		at = max(min(8, most), 2)
	}
	var paths []string
	for _, path := range questionPaths {
		if mounted(run, path) {
			paths = append(paths, path)
		}
	}
	return judgeSubjects(run, func(list []*subject) *check.Finding {
		for round := range 3 * len(paths) {
			if spent(run) {
				return nil
			}
			if f := together(run, list, paths, at, round); f != nil {
				return f
			}
		}
		return nil
	})
}

// asked is one of several questions that are asked at once.
type asked struct {
	subject *subject
	tenant  int
	path    string
	wording int
	reply   reply
}

// together asks questions about the tables at once, each for the one tenant and the
// other.
func together(run *session.Run, list []*subject, paths []string, at, round int) *check.Finding {
	sweep := round / len(paths)
	all := make([]asked, at)
	for i := range all {
		pair := i / 2
		all[i] = asked{
			subject: list[(pair+sweep)%len(list)], tenant: (i + round) % 2,
			path: paths[(pair+round)%len(paths)], wording: fresh(run),
		}
		if i%2 == 1 && sweep == 0 {
			all[i].wording = all[i-1].wording
		}
	}
	parallel(run.Ctx, at, func(ctx context.Context, i int) {
		q := &all[i]
		if q.subject.alone[q.tenant][q.path].text != "" {
			q.reply = ask(ctx, run, q.tenant, q.path, q.subject.view(q.tenant), q.wording)
		}
	})
	for _, q := range all {
		if q.reply.request == nil {
			continue
		}
		run.Cases++
		if f := q.subject.judge(q.reply, q.tenant, q.path, "asked while the other tenant asks"); f != nil {
			return f
		}
	}
	return nil
}

// parallel does n things at once. A panic of one becomes a panic of the caller.
func parallel(ctx context.Context, n int, do func(ctx context.Context, i int)) {
	var wg sync.WaitGroup
	panics := make([]any, n)
	for i := range n {
		wg.Go(func() {
			defer func() { panics[i] = recover() }()
			do(ctx, i)
		})
	}
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}
