package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/registry"
)

// Values of Cache-Control. A shared cache must not keep the answer of a route that needs a caller.
const (
	untilChecked  = "no-cache"
	privateForNow = "private, no-cache"
	privateForAll = "private, max-age=31536000, immutable"
)

// lifetime returns how long the answer about a version may be used. An exact version never has other content; latest and
// a range may name another version a moment later.
func lifetime(version string) string {
	switch registry.KindOf(version) {
	case registry.Exact, registry.ByDigest:
		return privateForAll
	case registry.Range, registry.ByLatest, registry.ByDraft:
	}
	return privateForNow
}

// sendOnce answers with an ETag, the hash of the answer, and with 304 if the client has that answer already.
func sendOnce(w http.ResponseWriter, r *http.Request, caching string, work func(http.ResponseWriter)) {
	held := &heldAnswer{header: w.Header()}
	work(held)
	if held.code() != http.StatusOK {
		w.WriteHeader(held.code())
		_, _ = w.Write(held.body.Bytes()) // the client may have disconnected
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
	_, _ = w.Write(held.body.Bytes()) // the client may have disconnected
}

// knows reports whether If-None-Match lists the ETag. A proxy that compresses answers makes ETags weak.
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
