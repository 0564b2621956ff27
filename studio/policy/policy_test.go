package policy_test

import (
	"testing"

	"github.com/atelier-run/atelier/studio/policy"
)

func TestShippedPacks_Valid(t *testing.T) {
	t.Parallel()
	if _, err := policy.New(policy.Options{}); err != nil {
		t.Fatal(err)
	}
}
