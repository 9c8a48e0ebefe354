package webhook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/examples/workspace/webhook"
)

const key = "svc_wf_3f6c1e0a9b7d4c52"

// vectors were computed by openssl. For a key K and a body B:
//
//	S=$(printf %s "$K" | openssl dgst -sha256 -r | cut -d' ' -f1)
//	printf %s "$B" | openssl dgst -sha256 -hmac "$S" -r
var vectors = []struct{ key, body, digest string }{
	{key, `{"event":"completed","run_id":"run_1","workflow_id":"wf_1","state":"completed","summary":"Done: 3 files","duration":12.5}`,
		"3403ca4fd65bfbf1e3d94fe5b196249618408c0462265913833d88fac96f503f"},
	{key, "{ \"event\" : \"awaiting_input\",\n  \"summary\": \"Prüfen 🙂\" }\n",
		"db741da7fa64885c26b3ca56b7b45c04f40fa4bdf3fd4017a798f331fb28d5d3"},
	{key, "", "f76ae62db46e7599f6ed5b9517413e066c1a9d300e60134277ab477bcfe11d76"},
	{"svc_wf_ü", `{"event":"completed","run_id":"run_1","workflow_id":"wf_1","state":"completed","summary":"Done: 3 files","duration":12.5}`,
		"c627899980b667fb147756ec70c21f71c0f0782b4c66eb52e6472787eea6802f"},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		secret := webhook.NewSecret(v.key)
		assert.Equal(t, "sha256="+v.digest, secret.Sign([]byte(v.body)))
		require.NoError(t, secret.Verify("sha256="+v.digest, []byte(v.body)))
	}
}

func TestVerifyRefuses(t *testing.T) {
	v := vectors[0]
	secret := webhook.NewSecret(v.key)
	for name, header := range map[string]string{
		"nothing":             "",
		"no prefix":           v.digest,
		"another prefix":      "sha1=" + v.digest,
		"upper case":          "sha256=" + strings.ToUpper(v.digest),
		"cut off":             "sha256=" + v.digest[:62],
		"too long":            "sha256=" + v.digest + "00",
		"one bit":             "sha256=" + strings.Replace(v.digest, "3", "2", 1),
		"of another body":     "sha256=" + vectors[1].digest,
		"of another key":      "sha256=" + vectors[3].digest,
		"signed with the key": "sha256=789780683876c761011bd181c8d9ac85c099ef1c2913c4355f5feb3a82d352e7", // -hmac "$K"
		"signed with bytes":   "sha256=0d388f7fc40711a3b0e661e874fa3469ad4b0354f10234b316463dd8425b23dc", // -mac HMAC -macopt hexkey:"$S"
		"with a space":        " sha256=" + v.digest,
	} {
		assert.ErrorIs(t, secret.Verify(header, []byte(v.body)), webhook.ErrSignature, name)
	}
	// The body counts as it was received, to the last blank.
	assert.ErrorIs(t, secret.Verify("sha256="+v.digest, []byte(v.body+"\n")), webhook.ErrSignature)
	assert.ErrorIs(t, webhook.Secret{}.Verify("sha256="+v.digest, []byte(v.body)), webhook.ErrSignature, "the zero secret")
}

func TestSecretIsNotPrinted(t *testing.T) {
	const digest = "3b990d1695328845406c1d7dae03a98a88788f6f6f8de38bd38f13901101697c"
	secret := webhook.NewSecret(key)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		printed := fmt.Sprintf(verb, struct{ S webhook.Secret }{secret})
		assert.NotContains(t, printed, digest)
		assert.NotContains(t, printed, key)
	}
}
