package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
)

// Paging contains the query parameters of a list that is always returned in pages.
type Paging struct {
	Cursor string `query:"cursor" maxLength:"500" doc:"nextCursor of the previous page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Maximum number of items in a page."`
}

// ListPaging contains the query parameters of a short list. Without a limit, the answer contains the whole list.
type ListPaging struct {
	Cursor string `query:"cursor" maxLength:"1000" doc:"nextCursor of the previous page."`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" doc:"Maximum number of items in a page (default: all)."`
}

// place is the decoded cursor of a short list. It contains the name and the index of the last item of the previous
// page.
type place struct {
	List  string `json:"l"`
	Item  string `json:"i"`
	Index int    `json:"n"`
}

// pageOf returns a page of a list, and the cursor of the next page or "" if there is none. The page begins after the
// item that the cursor names. If this item was removed, the page begins at the item's former index.
func pageOf[T any](q ListPaging, list string, items []T, name func(T) string) (page []T, next string, err error) {
	start := 0
	if q.Cursor != "" {
		after, err := placeIn(q.Cursor, list)
		if err != nil {
			return nil, "", err
		}
		start = min(after.Index, len(items))
		if i := slices.IndexFunc(items, func(item T) bool { return name(item) == after.Item }); i >= 0 {
			start = i + 1
		}
	}
	end := len(items)
	if q.Limit > 0 && start+q.Limit < end {
		end = start + q.Limit
		text, err := json.Marshal(place{list, name(items[end-1]), end - 1})
		if err != nil {
			return nil, "", err
		}
		next = base64.RawURLEncoding.EncodeToString(text)
	}
	return orEmpty(items[start:end]), next, nil
}

// placeIn decodes the cursor of a list.
func placeIn(cursor, list string) (place, error) {
	var p place
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p.List != list || p.Index < 0 {
		return place{}, fault.Invalid("/cursor", "must be a nextCursor from this list. Start again without a cursor.")
	}
	return p, nil
}
