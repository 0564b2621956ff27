package httpapi

import (
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// DraftMatch is part of the input of every route that acts on a draft. The revision may also be a member of the body,
// or a query parameter if there is no body.
type DraftMatch struct {
	IfMatch string `header:"If-Match" doc:"Revision of the draft that you last read, in quotes. If the draft has changed since, the answer is stale_draft with currentRevision, savedAt and savedBy. Without it the request uses the current draft."`
}

// DraftMatchQuery is DraftMatch for a route without a body.
type DraftMatchQuery struct {
	DraftMatch
	Revision int64 `query:"revision" minimum:"1" doc:"Same as If-Match."`
}

// RequiredDraftMatch is part of the input of every route that replaces a draft.
type RequiredDraftMatch struct {
	IfMatch string `header:"If-Match" doc:"Required: revision of the draft that you last read, in quotes. Without it the answer is precondition_required. If the draft has changed since, the answer is stale_draft with currentRevision, savedAt and savedBy."`
}

// seen returns the draft revision that a caller acts on, from the header or the member. 0 means that there is no
// member.
func (m DraftMatch) seen(member int64) (registry.Seen, error) {
	if m.IfMatch == "" {
		return registry.SeenRevision(member), nil
	}
	revision, err := revisionOf(m.IfMatch)
	if err == nil && member != 0 && member != revision {
		err = fault.Invalid("/revision", "must be that of If-Match, or be left out.")
	}
	return registry.SeenRevision(revision), err
}

// seen returns the draft revision that a caller acts on, from the header or the query.
func (m DraftMatchQuery) seen() (registry.Seen, error) { return m.DraftMatch.seen(m.Revision) }

// revision returns the draft revision that a caller replaces.
func (m RequiredDraftMatch) revision() (int64, error) {
	if m.IfMatch == "" {
		return 0, fault.New(fault.PreconditionRequired, `Saving requires If-Match with the revision that you last read, for example If-Match: "7". The ETag of an answer contains it.`)
	}
	return revisionOf(m.IfMatch)
}

// revisionOf parses an If-Match header such as "7".
func revisionOf(header string) (int64, error) {
	text, opened := strings.CutPrefix(header, `"`)
	text, closed := strings.CutSuffix(text, `"`)
	revision, err := strconv.ParseInt(text, 10, 64)
	if !opened || !closed || err != nil || revision < 1 {
		return 0, fault.New(fault.BadRequest, `If-Match must be one revision in quotes, for example "7".`)
	}
	return revision, nil
}
