package platform

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Document fetches the capability document, for which no token is sent. Members that
// the protocol does not define are dropped [rule document-3].
func (c *Client) Document(ctx context.Context) (*wire.Document, error) {
	e, err := c.begin(ctx, wire.PathDocument, wire.Credentials{}, clocks{}, nil)
	if err != nil {
		return nil, err
	}
	document, err := e.document()
	if err == nil {
		visible := []string{}
		for _, f := range document.CredentialSchema {
			if f.Type == wire.CredentialText {
				visible = append(visible, f.Key)
			}
		}
		c.visible.Store(&visible)
	}
	return document, e.end(err)
}

func (e *exchange) document() (*wire.Document, error) {
	if e.response.StatusCode != http.StatusOK {
		// A host without a connector answers as it likes.
		return nil, e.fault("status", "document-4", "answered "+e.response.Status+"; the document is served with 200 and without a redirect")
	}
	if e.media() != terms.MediaJSON {
		return nil, e.fault("Content-Type", "document-4", "is not "+terms.MediaJSON)
	}
	body, err := e.body(terms.MaxDocumentBytes, "document-5")
	if err != nil {
		return nil, err
	}
	var d wire.Document
	if err := e.unmarshal(body, &d); err != nil {
		return nil, err
	}
	if strings.TrimSpace(d.Dialect) == "" {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err == nil && members["dialect"] != nil {
			return nil, e.fault("dialect", "document-8", "is empty; name a dialect, or leave the member out")
		}
	}
	return &d, nil
}

// linkConsistent returns what is wrong with the numbers of a link hit rate.
func linkConsistent(l *wire.LinkHitRate) error {
	rate := 0.0
	if l.FromNonNull > 0 {
		rate = float64(l.OrphanCount) / float64(l.FromNonNull)
	}
	switch {
	case l.OrphanCount > l.FromNonNull:
		return &AnswerError{Path: wire.PathLinkHitRate, Place: "orphanCount", Rule: "measure-2", Problem: "is larger than fromNonNull"}
	case math.Abs(l.OrphanRate-rate) > 1e-6:
		return &AnswerError{Path: wire.PathLinkHitRate, Place: "orphanRate", Rule: "measure-2",
			Problem: "is not orphanCount divided by fromNonNull"}
	case int64(len(l.OrphanSamples)) > l.OrphanCount:
		return &AnswerError{Path: wire.PathLinkHitRate, Place: "orphanSamples", Rule: "measure-2a",
			Problem: "has more samples than there are orphans"}
	}
	samples := slices.Sorted(slices.Values(l.OrphanSamples))
	if len(slices.Compact(samples)) < len(l.OrphanSamples) {
		return &AnswerError{Path: wire.PathLinkHitRate, Place: "orphanSamples", Rule: "measure-2a", Problem: "names a key twice"}
	}
	return nil
}
