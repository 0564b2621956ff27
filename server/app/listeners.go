package app

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// listeners records the addresses at which this server listens. Programs must not reach them.
type listeners struct {
	mu    sync.Mutex
	known []netip.AddrPort
}

func (l *listeners) add(address net.Addr) {
	known, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return // This happens only for the listener of a test, which has no address.
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = append(l.known, netip.AddrPortFrom(known.Addr().Unmap(), known.Port()))
}

func (l *listeners) all() []netip.AddrPort {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.known)
}
