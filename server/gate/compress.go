package gate

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// smallest is the size in bytes from which answers are compressed. The answer of an ordinary run is smaller; to
// compress it would take longer than to send the saved bytes.
const smallest = 4 << 10

// compress compresses large answers for clients that accept gzip. It does not compress event streams. It also does not
// compress the files of the Studio, because they are stored in compressed form.
func compress(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(smallest), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false), gzhttp.SetContentType(false),
		gzhttp.ContentTypes([]string{"application/json", "application/problem+json", "application/openapi+json", "application/schema+json", "text/html"}))
	if err != nil {
		panic(fmt.Errorf("compress answers: %w", err)) // The options are constants, so this cannot fail at run time.
	}
	compressed := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/studio/") || upgrades(r) {
			next.ServeHTTP(w, r)
			return
		}
		compressed.ServeHTTP(w, r)
	})
}
