package runs

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/registry"
)

// CheckKept checks and returns the input of a run that starts later. The input is stored until the run starts.
// Therefore the input must not contain values of secrets, and the program must not have the flag pii_risk. Error:
// InvalidInput.
func (s *Service) CheckKept(ctx context.Context, workspace string, version registry.Version, input json.RawMessage) (json.RawMessage, error) {
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	if private(version.Spec, nil) {
		return nil, fault.Invalid("/agent", "must not have the flag pii_risk, because the input is stored until the agent runs.")
	}
	if _, _, err := s.checkInput(ctx, version.InputSchema, input); err != nil {
		return nil, err
	}
	given, err := s.given(ctx, workspace, versionTarget(version))
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(redact.New(given.Values).JSON(input), input) {
		return nil, fault.Invalid("/input", "must not contain the value of a secret, because it is stored until the agent runs.")
	}
	return input, nil
}
