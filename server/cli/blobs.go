package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/atelier-run/atelier/server/app"
)

type blobsCommand struct {
	Move blobsMove `cmd:"" help:"Copy the files of large versions from the data directory to the bucket of --s3-endpoint. Stop the server first."`
}

type blobsMove struct {
	printed
	database
}

func (c *blobsMove) run(ctx context.Context, p Process) error {
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	if settings.S3.Endpoint == "" {
		return errors.New("no bucket is configured; set ATELIER_S3_ENDPOINT and its keys, or s3Endpoint in the settings file")
	}
	moved, err := app.MoveBlobs(ctx, settings, p.quietLog())
	if err != nil {
		return err
	}
	done := struct {
		Moved  int    `json:"moved"`
		Bucket string `json:"bucket"`
	}{moved, settings.S3.Bucket}
	return c.result(p, done, func() error {
		_, err = fmt.Fprintf(p.Stdout, "copied %s to the bucket %s; start the server with the same settings, then the folder blobs in the data directory can be removed\n", counted(moved, "file"), settings.S3.Bucket)
		return err
	})
}
