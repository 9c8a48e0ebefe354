package api_test

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/api"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/internal/exchange"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

const (
	base  = "https://platform.example.com"
	token = "token-of-mine-0123456789"
)

// play runs a test against exchanges that were written from the document.
func play(t *testing.T, file string, test func(t *testing.T, ctx context.Context, c *api.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Must(api.New(base, token, &api.Options{Transport: exchange.Play(t, "testdata/"+file)}))(t)
		test(t, t.Context(), c)
	})
}

func all[T any](t *testing.T, items iter.Seq2[T, error]) []T {
	t.Helper()
	var got []T
	for item, err := range items {
		require.NoError(t, err)
		got = append(got, item)
	}
	return got
}

func at(text string) time.Time {
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return parsed
}

func TestWhoami(t *testing.T) {
	want := api.User{ID: "usr_1", Email: "ada@example.com", Name: "Ada", AvatarURL: "https://cdn.example.com/a.png",
		OrganizationID: "org_1", CreatedAt: at("2024-01-15T10:30:00Z")}
	play(t, "whoami.http", func(t *testing.T, ctx context.Context, c *api.Client) {
		user := testkit.Must(c.Whoami(ctx))(t)
		assert.Equal(t, want, user)
		user = testkit.Must(api.Call[api.User](ctx, c, "GET /api/v2/whoami", nil))(t)
		assert.Equal(t, want, user, "fields that are not shown are ignored")
	})
}

func TestChats(t *testing.T) {
	play(t, "chats.http", func(t *testing.T, ctx context.Context, c *api.Client) {
		chats := all(t, c.Chats(ctx, url.Values{"archived": {"true"}}))
		require.Len(t, chats, 3)
		assert.Equal(t, api.Chat{ID: "chat_2", Title: "Old", Archived: true,
			CreatedAt: at("2023-01-15T10:30:00Z"), UpdatedAt: at("2023-01-16T08:00:00Z")}, chats[1])
		chat := testkit.Must(c.CreateChat(ctx, "New"))(t)
		assert.Equal(t, "chat_4", chat.ID)
		chat = testkit.Must(c.Chat(ctx, "chat_4"))(t)
		assert.Equal(t, []api.Message{
			{ID: "msg_1", Role: "user", Content: "Hello", CreatedAt: at("2024-02-01T00:00:01Z")},
			{ID: "msg_2", Role: "assistant", Content: "Hi", CreatedAt: at("2024-02-01T00:00:02Z")},
		}, chat.Messages)
		message := testkit.Must(c.AddMessage(ctx, "chat_4", api.NewMessage{Content: "Read this",
			Attachments: []api.Attachment{{FileID: "file_1", Type: "vault_file"}}}))(t)
		assert.Equal(t, "msg_3", message.ID)
		require.NoError(t, c.DeleteChat(ctx, "chat_4"))
	})
}

func TestFiles(t *testing.T) {
	play(t, "files.http", func(t *testing.T, ctx context.Context, c *api.Client) {
		files := all(t, c.Files(ctx, url.Values{"folder_id": {"fld_1"}, "search": {"report"}, "type": {"application/pdf"}}))
		require.Len(t, files, 1)
		assert.Equal(t, int64(9007199254740993), files[0].Size, "every digit")
		const text = "five lines"
		file, err := c.Upload(ctx, api.Upload{Filename: `notes "a".txt`, Type: "text/plain", Content: strings.NewReader(text),
			Size: int64(len(text)), FolderID: "fld_1", Name: "Notes"})
		require.NoError(t, err)
		assert.Equal(t, int64(10), file.Size)
		file = testkit.Must(c.File(ctx, "file_2"))(t)
		assert.Equal(t, "https://files.example.net/x?sig=1", file.DownloadURL)
		assert.Len(t, file.SharedWith, 1)
		link := testkit.Must(c.Download(ctx, "file_2"))(t)
		assert.Equal(t, api.Download{URL: "https://files.example.net/x?sig=2", ExpiresAt: at("2024-02-01T01:00:00Z")}, link)
		require.NoError(t, c.DeleteFile(ctx, "file_2"))
	})
}

func TestWorkflows(t *testing.T) {
	play(t, "workflows.http", func(t *testing.T, ctx context.Context, c *api.Client) {
		workflows := all(t, c.Workflows(ctx, url.Values{"status": {"active"}}))
		require.Len(t, workflows, 2)
		assert.Equal(t, at("2024-01-15T06:00:00Z"), workflows[0].LastRun)
		assert.True(t, workflows[1].LastRun.IsZero())
		workflow := testkit.Must(c.CreateWorkflow(ctx, api.NewWorkflow{Name: "Report", Trigger: api.Trigger{Type: "manual"}}))(t)
		assert.Equal(t, "draft", workflow.Status)
		workflow = testkit.Must(c.Workflow(ctx, "wf_3"))(t)
		assert.Equal(t, &api.Trigger{Type: "schedule", Config: json.RawMessage(`{"cron":"0 6 * * *"}`)}, workflow.Trigger)
		assert.Equal(t, []api.Node{{ID: "n1", Type: "ai_task", Config: json.RawMessage(`{"prompt":"Summarize"}`)}}, workflow.Nodes)
		active := "active"
		workflow = testkit.Must(c.UpdateWorkflow(ctx, "wf_3", api.WorkflowChange{Status: &active}))(t)
		assert.Equal(t, "active", workflow.Status)
		run := testkit.Must(c.RunWorkflow(ctx, "wf_3", map[string]any{"day": "2024-02-01"}))(t)
		assert.Equal(t, api.Execution{ExecutionID: "exec_1", Status: "running", StartedAt: at("2024-02-01T00:00:05Z")}, run)
		require.NoError(t, c.DeleteWorkflow(ctx, "wf_3"))
		workflow = testkit.Must(api.Call[api.Workflow](ctx, c, "POST /api/v2/workflows",
			&api.Args{Body: map[string]string{"name": "By the main surface"}}))(t)
		assert.Equal(t, "draft", workflow.Status)
	})
}

func TestDashboards(t *testing.T) {
	play(t, "dashboards.http", func(t *testing.T, ctx context.Context, c *api.Client) {
		assert.Equal(t, []api.Dashboard{{ID: "dash_1", Name: "Sales", CreatedAt: at("2024-01-01T00:00:00Z")}}, all(t, c.Dashboards(ctx)))
		dashboard := testkit.Must(c.CreateDashboard(ctx, api.NewDashboard{Name: "Costs"}))(t)
		assert.Equal(t, "dash_2", dashboard.ID)
		dashboard = testkit.Must(c.Dashboard(ctx, "dash_1"))(t)
		assert.Equal(t, []api.Widget{{ID: "w1", Type: "metric", Config: json.RawMessage(`{"metric":"revenue"}`),
			Position: api.Position{X: 0, Y: 1, W: 4, H: 2}}}, dashboard.Widgets)
	})
}

func TestMainSurface(t *testing.T) {
	play(t, "main.http", func(t *testing.T, ctx context.Context, c *api.Client) {
		const text = "created_after=2024-01-01&limit=2&offset=1&sort=-created_at&status=active"
		query := testkit.Must(url.ParseQuery(text))(t)
		workflows := all(t, api.List[api.Workflow](ctx, c, "GET /api/v2/workflows", &api.Args{Query: query}))
		assert.Len(t, workflows, 3)
		assert.Equal(t, text, query.Encode(), "the caller's query stays as it is")
		level, err := api.Call[json.RawMessage](ctx, c, "GET /api/v2/sharing/:resourceType/:resourceId/permission",
			&api.Args{Path: api.Path{"resourceType": "vault/file", "resourceId": "file 1"}})
		require.NoError(t, err)
		assert.JSONEq(t, `{"level":"a field that is not shown"}`, string(level))
		moved := testkit.Must(api.Call[map[string]bool](ctx, c, "POST /api/v2/object-storage/directories/:id/move",
			&api.Args{Path: api.Path{"id": "dir_1"}, Body: map[string]string{"to": "dir_2"}}))(t)
		assert.True(t, moved["moved"], "where the answer is not shown, it need not have a member data")
		require.NoError(t, c.Do(ctx, "DELETE /api/v2/object-storage/trash/empty", nil))
	})
}

func TestErrors(t *testing.T) {
	play(t, "errors.http", func(t *testing.T, ctx context.Context, c *api.Client) {
		_, err := c.CreateChat(ctx, "")
		var failure *api.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, 400, failure.Status)
		assert.Equal(t, api.CodeValidation, failure.Code)
		assert.Equal(t, "title", failure.Field)
		assert.JSONEq(t, `1`, string(failure.Details["least"]))
		assert.EqualError(t, err, "POST /v1/chats: status 400 VALIDATION_ERROR: title is required (field title)")
		for _, want := range []string{
			"GET /v1/chats/:id: status 401 UNAUTHORIZED: invalid token [redacted]",
			"GET /v1/chats/:id: status 403 FORBIDDEN: no access",
			"GET /v1/chats/:id: status 404 NOT_FOUND: no such chat",
			"GET /v1/chats/:id: status 500 INTERNAL_ERROR: it broke",
		} {
			_, err := c.Chat(ctx, "chat_1")
			assert.EqualError(t, err, want)
		}
		begun := time.Now()
		testkit.Must(c.Chat(ctx, "chat_1"))(t, "a request that was refused with 429 is sent again")
		assert.Positive(t, time.Since(begun), "after a pause")
	})
}
