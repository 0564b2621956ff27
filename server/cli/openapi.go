package cli

import (
	"context"

	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/server/skillsapi"
)

type openAPICommand struct{ printed }

func (*openAPICommand) run(_ context.Context, p Process) error {
	api := httpapi.New(httpapi.Options{})
	if err := api.DescribeToo(skillsapi.New(skillsapi.Options{}).Describe); err != nil {
		return err
	}
	text, err := api.OpenAPI()
	if err != nil {
		return err
	}
	_, err = p.Stdout.Write(text)
	return err
}
