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
// itself. obtain asks for a token. It is called once in a request of the platform, whose
// calls share the token, and again when the token's lifetime is over or the API no longer
// accepts it. A lifetime of zero is an unknown one. place is where the token is put, as in
// [TokenAnswer]; without it, it is sent as Bearer does.
//
// [ClientCredentials], [SignedJWT] and [Login] are the usual ways to obtain one. Use Token
// for another way:
//
//	Authorize: restsource.Token(func(ctx context.Context, credentials wire.Credentials) (string, time.Duration, error) {
//		return handshake(ctx, credentials.Get("user"), credentials.Get("password"))
//	})
func Token(
	obtain func(ctx context.Context, credentials wire.Credentials) (token string, lifetime time.Duration, err error), place ...string,
) Authorize {
	a := TokenAnswer{Place: strings.Join(place, "")}
	return a.authorize(func(ctx context.Context, credentials wire.Credentials) (t obtained, err error) {
		t.token, t.lifetime, err = obtain(ctx, credentials)
		return t, err
	})
}

// obtained is a token, and what came with it.
type obtained struct {
	token    string
	lifetime time.Duration
	base     string   // the address of the API
	others   []string // texts beside the token that may be secrets
}

// authorize returns an Authorize that obtains tokens and puts them into requests.
func (a TokenAnswer) authorize(obtain func(ctx context.Context, credentials wire.Credentials) (obtained, error)) Authorize {
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
		token, err := held.get(ctx, func() (obtained, error) { return obtain(ctx, credentials) })
		if err != nil {
			return err
		}
		return a.put(r, token)
	}
}

// heldToken is the access token of one request of the platform.
type heldToken struct {
	turn chan struct{} // has room for the one that looks at the token
	obtained
	expires time.Time // zero: not known
}

// get returns the token. It obtains a new one at first, before the old one expires, and if
// the API has refused the old one.
func (h *heldToken) get(ctx context.Context, obtain func() (obtained, error)) (string, error) {
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
		fresh, err := obtain()
		if err != nil {
			return "", err
		}
		if h.token != "" && h.base != fresh.base {
			return "", &formError{"", "a new token is for another address than the one before"}
		}
		h.obtained, h.expires = fresh, time.Time{}
		h.token = strings.TrimSpace(h.token)
		if h.lifetime > 0 {
			h.expires = time.Now().Add(h.lifetime - min(h.lifetime/10, maxTokenMargin))
		}
	}
	if use != nil {
		use.token, use.base, use.others = h.token, h.base, h.others
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
	base    string // the address that its answer names
	others  []string
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
