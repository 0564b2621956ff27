package specs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
)

func TestGrantsHaveACeiling(t *testing.T) {
	t.Parallel()
	spec, c := hello(), checker()
	spec.Capabilities.Hosts = []string{"api.example.com:443", "api.example.org:443"}
	if err := c.Grants("any", spec); err != nil {
		t.Errorf("nothing caps it: %v", err)
	}
	most, err := hostpattern.ParseGrant("*.example.com:443")
	if err != nil {
		t.Fatal(err)
	}
	c.CapGrants(func(workspace string) hostpattern.Ceiling {
		return hostpattern.Ceiling{All: workspace == "free", Grants: []hostpattern.Grant{most}}
	})
	if err := c.Grants("free", spec); err != nil {
		t.Errorf("free: %v", err)
	}
	var refused *fault.Error
	if err := c.Grants("capped", spec); !errors.As(err, &refused) || len(refused.Details) != 1 || refused.Details[0].Pointer != "/capabilities/hosts/1" || !strings.Contains(refused.Details[0].Message, "api.example.org:443") {
		t.Errorf("capped: %v", err)
	}
}
