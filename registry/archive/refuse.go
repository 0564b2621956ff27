package archive

import (
	"errors"
	"fmt"

	"github.com/atelier-run/atelier/internal/fault"
)

func invalid(format string, args ...any) error {
	return fault.New(fault.InvalidInput, "%s", "The archive "+fmt.Sprintf(format, args...)+".")
}

// broken converts a read error to InvalidInput. It leaves an error unchanged if the error already has a code.
func broken(err error) error {
	var refusal *fault.Error
	if errors.As(err, &refusal) {
		return refusal
	}
	return &fault.Error{Code: fault.InvalidInput, Message: "The file is not an exported archive, or it is damaged or incomplete. Choose the .tar.gz that was exported.", Err: err}
}

func shown(name string) string { return fault.Shown(name, 120) }
