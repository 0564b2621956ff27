package egress

import (
	"net/netip"

	"github.com/atelier-run/atelier/internal/hostpattern"
)

// LastLook is what happens when a socket exists and is about to be connected, for an address that was decided about.
func (d *Session) LastLook(target hostpattern.Target, decided netip.Addr, address string) error {
	return (&exchange{session: d, target: target}).check(decided, address)
}
