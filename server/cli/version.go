package cli

import (
	"context"
	"fmt"
	"runtime"
)

type versionCommand struct{}

func (*versionCommand) run(_ context.Context, p Process) error {
	_, err := fmt.Fprintf(p.Stdout, "atelier %s %s/%s %s\n", p.Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}
