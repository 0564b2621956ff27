package hostpattern

import (
	"net/netip"
	"sync"
)

// special is a block of addresses that are not on the public internet. The blocks come from the IANA registries and
// from cloud providers.
type special struct {
	prefix string
	class  string
}

func specials() []special {
	return []special{
		{"169.254.169.254/32", "metadata"},
		{"168.63.129.16/32", "metadata"},
		{"100.100.100.200/32", "metadata"},
		{"fd00:ec2::254/128", "metadata"},
		{"0.0.0.0/8", "unspecified"},
		{"10.0.0.0/8", "private"},
		{"100.64.0.0/10", "carrier"},
		{"127.0.0.0/8", "loopback"},
		{"169.254.0.0/16", "link-local"},
		{"172.16.0.0/12", "private"},
		{"192.0.0.0/24", "reserved"},
		{"192.0.2.0/24", "documentation"},
		{"192.88.99.0/24", "6to4"},
		{"192.168.0.0/16", "private"},
		{"198.18.0.0/15", "benchmark"},
		{"198.51.100.0/24", "documentation"},
		{"203.0.113.0/24", "documentation"},
		{"224.0.0.0/4", "multicast"},
		{"240.0.0.0/4", "reserved"},

		{"::/128", "unspecified"},
		{"::1/128", "loopback"},
		{"::ffff:0:0/96", "mapped"},
		{"::/96", "compatible"},
		{"64:ff9b::/96", "nat64"},
		{"64:ff9b:1::/48", "nat64"},
		{"100::/64", "discard"},
		{"2001::/32", "teredo"},
		{"2001:2::/48", "benchmark"},
		{"2001:10::/28", "reserved"},
		{"2001:20::/28", "reserved"},
		{"2001:db8::/32", "documentation"},
		{"2002::/16", "6to4"},
		{"3fff::/20", "documentation"},
		{"5f00::/16", "reserved"},
		{"fc00::/7", "private"},
		{"fe80::/10", "link-local"},
		{"fec0::/10", "private"},
		{"ff00::/8", "multicast"},
	}
}

// Metadata is the class of the addresses of cloud metadata services. Such a service gives a machine its credentials.
const Metadata = "metadata"

type block struct {
	prefix netip.Prefix
	class  string
}

var blocks = sync.OnceValue(func() []block {
	var all []block
	for _, s := range specials() {
		all = append(all, block{netip.MustParsePrefix(s.prefix), s.class})
	}
	return all
})

// Class returns the class of an address that is not on the public internet, for example metadata. It returns "" for a
// public address. The first block that contains the address decides. An IPv6 address outside of the assigned range is
// not public.
func Class(addr netip.Addr) string {
	if !addr.IsValid() || addr.Zone() != "" {
		return "invalid"
	}
	for _, b := range blocks() {
		if b.prefix.Contains(addr) {
			return b.class
		}
	}
	if addr.Is6() && !netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3).Contains(addr) {
		return "reserved"
	}
	return ""
}
