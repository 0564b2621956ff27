package blobs

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestS3_DeadlineOfCaller_BucketStaysAvailable checks that a bucket stays available if only the deadline of the caller
// ends a request. If the bucket does not answer in time, the error states how long the request waited.
func TestS3_DeadlineOfCaller_BucketStaysAvailable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead { // the bucket exists
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	s, err := OpenS3(t.Context(), S3Options{Endpoint: strings.TrimPrefix(server.URL, "http://"), Bucket: "bucket", Region: "r", AccessKey: "k", SecretKey: "s", CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ended, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	if _, err := s.Get(ended, "agent/1.0.0", Digest(nil)); err == nil || !strings.Contains(err.Error(), "The request ended") {
		t.Errorf("the reader gets %v", err)
	}
	if state := s.State(); !state.Available || state.Failures != 0 {
		t.Errorf("the bucket is %+v", state)
	}
	late, give := within(t.Context(), time.Nanosecond)
	defer give()
	<-late.Done()
	s.note(late, late.Err())
	if state := s.State(); state.Available || !strings.Contains(state.Reason, "within 1ns") {
		t.Errorf("the bucket is %+v", state)
	}
}
