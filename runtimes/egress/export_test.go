package egress

import (
	"net/netip"

	"github.com/atelier-run/atelier/internal/hostpattern"
)

// LastLook runs the check that dial makes just before a socket connects to address. decided is the approved address.
func (d *Session) LastLook(target hostpattern.Target, decided netip.Addr, address string) error {
	return (&exchange{session: d, target: target}).check(decided, address)
}
