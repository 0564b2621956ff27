package cli

import (
	"context"

	"github.com/atelier-run/atelier/server/httpapi"
)

type openAPICommand struct{}

func (*openAPICommand) run(_ context.Context, p Process) error {
	text, err := httpapi.New(httpapi.Options{}).OpenAPI()
	if err != nil {
		return err
	}
	_, err = p.Stdout.Write(text)
	return err
}
