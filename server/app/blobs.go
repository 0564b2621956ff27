package app

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
)

// openBlobs opens the store for the files of large versions: a bucket if one is configured, or else the data directory.
func openBlobs(ctx context.Context, c config.Config) (store.Blobs, error) {
	if c.S3.Endpoint == "" {
		return blobs.Open(filepath.Join(c.Data, "blobs"))
	}
	return blobs.OpenS3(ctx, blobs.S3Options{
		Endpoint: c.S3.Endpoint, TLS: c.S3.TLS, Bucket: c.S3.Bucket, Region: c.S3.Region, AccessKey: c.S3.AccessKey, SecretKey: c.S3.SecretKey,
		CacheDir: filepath.Join(c.Data, "blob-cache"), CacheBytes: c.S3.CacheBytes,
	})
}

// MoveBlobs copies the files of large versions from the data directory to the bucket and returns their number. Files
// that the bucket has already are left alone, so it may be repeated. The server must not run.
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
