package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/server/httpapi"
)

// openBlobs opens the store for the files of large versions: a bucket if one is configured, or else a folder of the
// data directory. Servers that share a database need a bucket. Without a bucket they refuse versions with large files.
func openBlobs(ctx context.Context, c config.Config) (store.Blobs, error) {
	if c.S3.Endpoint == "" && c.Replicas {
		return noBlobs{}, nil
	}
	if c.S3.Endpoint == "" {
		return blobs.Open(filepath.Join(c.Data, "blobs"))
	}
	return blobs.OpenS3(ctx, blobs.S3Options{
		Endpoint: c.S3.Endpoint, TLS: c.S3.TLS, Bucket: c.S3.Bucket, Region: c.S3.Region, AccessKey: c.S3.AccessKey, SecretKey: c.S3.SecretKey,
		CacheDir: filepath.Join(c.Data, "blob-cache"), CacheBytes: c.S3.CacheBytes,
	})
}

// pingEvery is the interval at which the server checks that the bucket answers.
const pingEvery = 10 * time.Second

// watchBucket regularly checks whether the bucket answers, and exposes the result as metrics.
func (a *App) watchBucket(ctx context.Context) error {
	bucket, ok := a.store.Blobs().(*blobs.S3)
	if !ok {
		return nil
	}
	a.metrics.Gauge("atelier_bucket_available", "1 if the bucket with the files of large versions answers, otherwise 0.", nil, func() float64 {
		if bucket.State().Available {
			return 1
		}
		return 0
	})
	a.metrics.Counter("atelier_bucket_failures_total", "Number of requests to the bucket that failed or returned wrong content.", nil, func() float64 { return float64(bucket.State().Failures) })
	a.again(ctx, "bucket", pingEvery, bucket.Ping, func() error { return nil })
	return nil
}

// bucketState reports the state of the bucket, or nil if there is no bucket.
func (h *statusProvider) bucketState() *httpapi.BucketState {
	bucket, ok := h.app.store.Blobs().(*blobs.S3)
	if !ok {
		return nil
	}
	state := bucket.State()
	return &httpapi.BucketState{Available: state.Available, Reason: state.Reason}
}

// noBlobs refuses the files of large versions. It is used by servers that share a database if no bucket is configured,
// because the other servers could not read files in a data directory.
type noBlobs struct{}

// Put implements store.Blobs.
func (noBlobs) Put(context.Context, string, []byte) (string, error) {
	return "", fault.New(fault.Conflict, "The files of this version are larger than 100 kB, and the servers of this database do not share a bucket for such files. Start every server with --s3-endpoint.")
}

// Get implements store.Blobs.
func (noBlobs) Get(_ context.Context, name, _ string) ([]byte, error) { return nil, noBucket(name) }

// List implements store.Blobs.
func (noBlobs) List(context.Context, func(blobs.Stored) error) error { return nil }

// Remove implements store.Blobs.
func (noBlobs) Remove(context.Context, blobs.Stored, time.Time) (bool, error) { return false, nil }

// Size implements store.Blobs.
func (noBlobs) Size(_ context.Context, name, _ string) (int64, error) { return 0, noBucket(name) }

func noBucket(name string) error {
	return fmt.Errorf("the files of %s are in a bucket or a data directory that this server does not have; set --s3-endpoint", name)
}

// MoveBlobs copies the files of large versions from the data directory to the bucket, and returns the number of copied
// files. It skips files that the bucket already contains, so it can be run again. The server must not be running.
func MoveBlobs(ctx context.Context, c config.Config, log *slog.Logger) (moved int, err error) {
	folder, err := blobs.Open(filepath.Join(c.Data, "blobs"))
	if err != nil {
		return 0, err
	}
	err = withStore(ctx, c, log, func(s *store.Store) error {
		moved, err = s.CopyBlobs(ctx, folder)
		return err
	})
	return moved, err
}
