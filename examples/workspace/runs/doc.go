// Package runs starts a workflow with a key made for it, and follows its run.
//
//	client, err := runs.New("https://platform.example.com", key, nil)
//	...
//	run, err := client.Trigger(ctx, "wf_1", runs.Trigger{CallbackURL: "https://me.example.com/hook"})
//	...
//	for event, err := range client.Follow(ctx, run.RunID) {
//		...
//	}
//	status, err := client.Status(ctx, run)
//
// A run that needs a person's answer pauses. Its webhook, which package webhook
// receives, has the address for [Client.Resume]. [Trigger.Inputs] answers in advance.
//
// The failures are those of package api: [api.Error] for a refusal, [api.AnswerError]
// for an answer that is not what the document shows, [api.ErrForeign] for an address
// on another host.
package runs
