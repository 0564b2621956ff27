package httpapi

import (
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// DraftMatch is part of the input of every route that acts on a draft. It contains the revision that the client has
// seen. If the request has a body, the revision may instead be a member of the body; otherwise it may be a query
// parameter.
type DraftMatch struct {
	IfMatch string `header:"If-Match" doc:"Revision of the draft that you last read, in quotes. If the draft has changed since, the answer is stale_draft with currentRevision, savedAt and savedBy. With *, or without the header, the current draft is used."`
}

// DraftMatchQuery is the form of DraftMatch for a route without a body.
type DraftMatchQuery struct {
	DraftMatch
	Revision int64 `query:"revision" minimum:"1" doc:"Same as If-Match."`
}

// RequiredDraftMatch is part of the input of every route that replaces a draft.
type RequiredDraftMatch struct {
	IfMatch string `header:"If-Match" doc:"Revision of the draft that you last read, in quotes. * replaces any current draft. Without the header the answer is precondition_required. If the draft has changed since, the answer is stale_draft with currentRevision, savedAt and savedBy."`
}

// seen returns the draft revision on which a caller acts, from If-Match or from the member revision of the body. member
// is 0 if the body has no such member.
func (m DraftMatch) seen(member int64) (registry.Seen, error) {
	if m.IfMatch == "" {
		return registry.SeenRevision(member), nil
	}
	seen, err := seenIn(m.IfMatch)
	if err == nil && member != 0 && seen != registry.SeenRevision(member) {
		err = fault.Invalid("/revision", "must equal the revision in If-Match, or be omitted.")
	}
	return seen, err
}

// seen returns the draft revision on which a caller acts, from the header or the query.
func (m DraftMatchQuery) seen() (registry.Seen, error) { return m.DraftMatch.seen(m.Revision) }

// seen returns the draft revision that a caller wants to replace.
func (m RequiredDraftMatch) seen() (registry.Seen, error) {
	if m.IfMatch == "" {
		return registry.Seen{}, fault.New(fault.PreconditionRequired, `Saving requires If-Match with the revision that you last read, for example If-Match: "7". The ETag of an answer contains it.`)
	}
	return seenIn(m.IfMatch)
}

// seenIn parses an If-Match header such as "7". W/"7" means the same, because proxies that compress answers make ETags
// weak. * means the current revision, whatever its number is.
func seenIn(header string) (registry.Seen, error) {
	header = strings.TrimSpace(header)
	if header == "*" {
		return registry.AnyRevision(), nil
	}
	text, opened := strings.CutPrefix(strings.TrimPrefix(header, "W/"), `"`)
	text, closed := strings.CutSuffix(text, `"`)
	revision, err := strconv.ParseInt(text, 10, 64)
	if !opened || !closed || err != nil || revision < 1 {
		return registry.Seen{}, fault.New(fault.BadRequest, `If-Match must be one revision in quotes, for example "7", or * for the current one.`)
	}
	return registry.SeenRevision(revision), nil
}
