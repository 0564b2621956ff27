package packages

import (
	"net/http"
	"testing"
)

// TestAuthorize_OtherOrigin_NoPassword: the address of an archive comes from a lock, which another server may have
// written. The password of an index goes to the origin of the index only.
func TestAuthorize_OtherOrigin_NoPassword(t *testing.T) {
	t.Parallel()
	source := Source{Index: "https://ada:secret@index.example/simple"}
	for to, want := range map[string]bool{
		"https://index.example/a.whl": true, "https://index.example:443/a.whl": true,
		"http://index.example:443/a.whl": false, "http://index.example/a.whl": false, "https://index.example:8443/a.whl": false, "https://files.example/a.whl": false,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		source.authorize(request)
		if _, _, sent := request.BasicAuth(); sent != want {
			t.Errorf("%s: password sent is %v", to, sent)
		}
	}
}
