package gate

import (
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/framing"
)

// checkForm refuses a compressed body, because this server cannot decompress it. It also refuses a request with two
// contradicting body lengths.
func (g *Gate) checkForm(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := framing.Check(r); err != nil {
			w.Header().Set("Connection", "close") // Close the connection, because it is unknown where the next request starts.
			g.Refuse.Write(w, r, err)
			return
		}
		for _, encoding := range r.Header.Values("Content-Encoding") {
			if !strings.EqualFold(strings.TrimSpace(encoding), "identity") {
				w.Header().Set("Accept-Encoding", "identity")
				g.Refuse.Write(w, r, fault.New(fault.UnsupportedMediaType, "The body must not be compressed. Send it without Content-Encoding."))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
