package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
)

// lookup resolves full names, which end in a dot, in the same way as this machine. The hosts file lists single-word
// names without the dot. So lookup first searches the hosts file for a single-word name. It uses a resolver that cannot
// query a name server.
type lookup struct{ table, servers *net.Resolver }

func newLookup() lookup {
	noDial := func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("this resolver reads only the hosts file")
	}
	return lookup{table: &net.Resolver{PreferGo: true, Dial: noDial}, servers: &net.Resolver{PreferGo: true}}
}

// LookupNetIP implements Resolver.
func (l lookup) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if name := strings.TrimSuffix(host, "."); !strings.Contains(name, ".") {
		if found, err := l.table.LookupNetIP(ctx, network, name); err == nil && len(found) > 0 {
			return found, nil
		}
	}
	return l.servers.LookupNetIP(ctx, network, host)
}
