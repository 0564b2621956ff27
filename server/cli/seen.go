package cli

import (
	"net/url"
	"strconv"
)

// seen is embedded in every command that acts on a draft. It adds the flag --revision.
type seen struct {
	Revision int64 `help:"Revision of the draft that you last read. The command fails if the draft has changed since then (default: the current revision)." placeholder:"N"`
}

// in adds the revision to the JSON body of a request.
func (s seen) in(body map[string]any) map[string]any {
	if s.Revision != 0 {
		body["revision"] = s.Revision
	}
	return body
}

// query adds the revision to the query parameters of a request.
func (s seen) query(query url.Values) url.Values {
	if s.Revision != 0 {
		query.Set("revision", strconv.FormatInt(s.Revision, 10))
	}
	return query
}
