package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/registry"
)

// These are the values of Cache-Control. Answers to authenticated callers are private, so that shared caches do not
// store them.
const (
	untilChecked  = "no-cache"
	privateForNow = "private, no-cache"
	privateForAll = "private, max-age=31536000, immutable"
)

// lifetime returns the Cache-Control of an answer about a version. The content of an exact version never changes. In
// contrast, latest and ranges may select another version at any time.
func lifetime(version string) string {
	switch registry.KindOf(version) {
	case registry.Exact, registry.ByDigest:
		return privateForAll
	case registry.Range, registry.ByLatest, registry.ByDraft:
	}
	return privateForNow
}

// sendOnce calls work and sends the answer that work has written, with a hash of the answer as ETag. If the client
// already has this answer, it sends 304.
func sendOnce(w http.ResponseWriter, r *http.Request, caching string, work func(http.ResponseWriter)) {
	held := &heldAnswer{header: w.Header()}
	work(held)
	if held.code() != http.StatusOK {
		w.WriteHeader(held.code())
		_, _ = w.Write(held.body.Bytes()) // The client may have disconnected.
		return
	}
	hash := sha256.Sum256(held.body.Bytes())
	etag := `"` + hex.EncodeToString(hash[:16]) + `"`
	w.Header().Set("ETag", etag)
	w.Header().Set("Cache-Control", caching)
	if caching != untilChecked {
		w.Header().Add("Vary", "Authorization, Cookie, X-Workspace")
	}
	if knows(r, etag) {
		w.Header().Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(held.body.Bytes()) // The client may have disconnected.
}

// knows reports whether If-None-Match lists the ETag. It ignores whether ETags are weak, because a proxy that
// compresses answers makes them weak.
func knows(r *http.Request, etag string) bool {
	for _, header := range r.Header.Values("If-None-Match") {
		for known := range strings.SplitSeq(header, ",") {
			if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == etag {
				return true
			}
		}
	}
	return false
}
