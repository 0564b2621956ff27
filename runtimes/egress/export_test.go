package egress

import (
	"net/netip"

	"github.com/atelier-run/atelier/internal/hostpattern"
)

// LastLook runs the final check of a socket that is about to connect, for an approved address.
func (d *Session) LastLook(target hostpattern.Target, decided netip.Addr, address string) error {
	return (&exchange{session: d, target: target}).check(decided, address)
}
