package cli

import (
	"context"
	"fmt"
	"runtime"
)

type versionCommand struct{ printed }

func (c *versionCommand) run(_ context.Context, p Process) error {
	about := struct {
		Version string `json:"version"`
		OS      string `json:"os"`
		Arch    string `json:"arch"`
		Go      string `json:"go"`
	}{p.Version, runtime.GOOS, runtime.GOARCH, runtime.Version()}
	return c.result(p, about, func() error {
		return p.print(fmt.Sprintf("atelier %s %s/%s %s", about.Version, about.OS, about.Arch, about.Go))
	})
}
