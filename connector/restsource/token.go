package restsource

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Token returns an Authorize for an API that takes access tokens which it gives out
// itself, and sends them as Bearer does. obtain asks for a token. It is called once in a
// request of the platform, whose calls share the token, and again when the token's
// lifetime is over or the API no longer accepts it. A lifetime of zero is an unknown one.
//
// [ClientCredentials] and [SignedJWT] are the usual ways to obtain one. Use Token for
// another way, such as a login:
//
//	Authorize: restsource.Token(func(ctx context.Context, credentials wire.Credentials) (string, time.Duration, error) {
//		return login(ctx, credentials.Get("user"), credentials.Get("password"))
//	})
func Token(obtain func(ctx context.Context, credentials wire.Credentials) (token string, lifetime time.Duration, err error)) Authorize {
	shared := new(connector.PerRequest[*heldToken])
	return func(r *http.Request, credentials wire.Credentials) error {
		ctx := r.Context()
		held, release, err := shared.Get(ctx, func(context.Context) (*heldToken, func(), error) {
			return &heldToken{turn: make(chan struct{}, 1)}, nil, nil
		})
		defer release()
		if err != nil {
			return err
		}
		token, err := held.get(ctx, func() (string, time.Duration, error) { return obtain(ctx, credentials) })
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

// heldToken is the access token of one request of the platform.
type heldToken struct {
	turn    chan struct{} // has room for the one that looks at the token
	token   string
	expires time.Time // zero: not known
}

// get returns the token. It obtains one if there is none, if the one there is expires
// soon, or if that is the one which the API has refused.
func (h *heldToken) get(ctx context.Context, obtain func() (string, time.Duration, error)) (string, error) {
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-h.turn }()
	use := tokenUseOf(ctx)
	refused := use != nil && use.renew && use.token == h.token
	expired := !h.expires.IsZero() && !time.Now().Before(h.expires)
	if h.token == "" || refused || expired {
		token, lifetime, err := obtain()
		if err != nil {
			return "", err
		}
		h.token, h.expires = strings.TrimSpace(token), time.Time{}
		if lifetime > 0 {
			h.expires = time.Now().Add(lifetime - min(lifetime/10, maxTokenMargin))
		}
	}
	if use != nil {
		use.token = h.token
	}
	return h.token, nil
}

// maxTokenMargin is how long before its end a token is replaced at most.
const maxTokenMargin = 30 * time.Second

// tokenUse tells a Token what the request is about that it puts a token into, and keeps
// which one that is.
type tokenUse struct {
	session *session
	renew   bool   // the API has refused the token
	token   string // that was sent
}

type tokenUseKey struct{}

func withTokenUse(ctx context.Context, use *tokenUse) context.Context {
	return context.WithValue(ctx, tokenUseKey{}, use)
}

// tokenUseOf returns what a context says of the request, or nil outside of a source.
func tokenUseOf(ctx context.Context) *tokenUse {
	use, _ := ctx.Value(tokenUseKey{}).(*tokenUse)
	return use
}
