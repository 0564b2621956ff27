package egress

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
)

// Session is the network access of one run. It is also the run's Host: it handles calls of fetch and passes events and
// other calls to the embedded Host.
type Session struct {
	runtimes.Host
	proxy   *Proxy
	grants  []hostpattern.Grant
	ceiling hostpattern.Ceiling
	bound   bound
	ctx     context.Context // ends together with the run
	cancel  context.CancelFunc
	joined  sync.WaitGroup // counts servers and requests, for which Close waits

	mu       sync.Mutex
	closed   bool
	requests int
	bytes    int64
	reported bool                  // whether an event has reported that the limit of requests is exceeded
	open     map[net.Conn]struct{} // connections to remote hosts
	refused  *refusal              // refusal of the last request; nil if the last request was allowed
}

// Close cancels all exchanges and waits until they have ended.
func (d *Session) Close() {
	d.cancel()
	d.mu.Lock()
	d.closed = true
	open := slices.Collect(maps.Keys(d.open))
	d.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close()
	}
	d.joined.Wait()
}

// exchange is one request of a program, from the decision to its end.
type exchange struct {
	session *Session
	target  hostpattern.Target
	rule    string
	addrs   []netip.Addr // checked addresses; only these may be dialed
	began   time.Time

	mu    sync.Mutex
	bytes int64
	over  bool
	limit *refusal // limit that was exceeded during the exchange
}

// begin decides whether a request is allowed. It reports a denied request at once; end reports an allowed one. If the
// number of requests exceeds the limit, begin reports only the first of these, because a program may send any number of
// requests.
func (d *Session) begin(ctx context.Context, target hostpattern.Target) (*exchange, *refusal) {
	x := &exchange{session: d, target: target, began: time.Now()}
	why := d.admit(target)
	if why == nil {
		x.rule, why = d.granted(target)
	}
	if why == nil {
		x.addrs, why = d.resolve(ctx, target)
	}
	d.mu.Lock()
	d.refused = why
	d.mu.Unlock()
	if why != nil {
		if why.rule != "" {
			x.rule = why.rule
		}
		if !why.again {
			x.end(why.decision())
		}
		return nil, why
	}
	return x, nil
}

// admit counts a request. It returns a refusal if the run has reached a limit.
func (d *Session) admit(target hostpattern.Target) *refusal {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests++
	most := d.proxy.options.Limits
	switch {
	case d.requests > most.Requests:
		why := tooMany(target, most)
		why.again, d.reported = d.reported, true
		return why
	case d.bytes >= most.Bytes:
		return tooMuch(target, most)
	}
	return nil
}

// granted returns the grant that covers a target. If no grant covers it or if the target must never be reached, granted
// returns the refusal.
func (d *Session) granted(target hostpattern.Target) (rule string, why *refusal) {
	if target.Addr.IsValid() {
		if class := d.proxy.never(target.Addr, target.Port); class != "" {
			return "", wrongAddress(target, target.Addr, class)
		}
	}
	for _, grant := range d.grants {
		if grant.Covers(target) {
			if !d.ceiling.Reaches(target) {
				return "", d.aboveCeiling(target)
			}
			return grant.String(), nil
		}
	}
	if !d.ceiling.Reaches(target) {
		return "", d.aboveCeiling(target)
	}
	return "", d.notGranted(target)
}

// resolve returns the addresses of a target, or a refusal if any of them must not be reached.
func (d *Session) resolve(ctx context.Context, target hostpattern.Target) ([]netip.Addr, *refusal) {
	if target.Addr.IsValid() { // the version has a grant for this address
		// Services of this machine may be private even if its address is public.
		if d.proxy.own(target.Addr) && !d.ceiling.Lists(target) {
			return nil, d.aboveCeiling(target)
		}
		return []netip.Addr{target.Addr}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.proxy.options.Limits.Dial)
	defer cancel()
	found, err := d.proxy.options.Resolver.LookupNetIP(ctx, "ip", absolute(target.Host))
	if err != nil || len(found) == 0 {
		return nil, unresolved(target)
	}
	for i, addr := range found {
		found[i] = addr.Unmap()
		if class := d.classOf(found[i], target.Port); class != "" {
			return nil, wrongAddress(target, found[i], class)
		}
	}
	return found, nil
}

// absolute adds a final dot to a name. Without the dot, a resolver would also append this machine's search domains to
// the name. The result would be a name that is not granted.
func absolute(name string) string { return strings.TrimSuffix(name, ".") + "." }

// classOf returns the class of an address to which a name must not resolve, or "" if the address is allowed. An address
// is also allowed if the address itself is granted and listed in the ceiling. This exception does not apply to metadata
// services and to this server's listeners.
func (d *Session) classOf(addr netip.Addr, port uint16) string {
	if class := d.proxy.never(addr, port); class != "" {
		return class
	}
	class := hostpattern.Class(addr)
	if class == "" && d.proxy.own(addr) {
		class = "own"
	}
	if class == "" {
		return ""
	}
	target := hostpattern.Target{Host: addr.String(), Addr: addr, Port: port}
	for _, grant := range d.grants {
		if grant.Covers(target) && d.ceiling.Lists(target) {
			return ""
		}
	}
	return class
}

// never returns the class of an address that no grant can allow: the address of a metadata service or of a listener of
// this server.
func (p *Proxy) never(addr netip.Addr, port uint16) string {
	if hostpattern.Class(addr) == hostpattern.Metadata {
		return hostpattern.Metadata
	}
	for _, listener := range p.options.Server() {
		if listener.Port() == port && (addr == listener.Addr().Unmap() || addr.IsLoopback() || addr.IsUnspecified() || p.own(addr)) {
			return classServer
		}
	}
	return ""
}

// own reports whether an address belongs to this machine. If it cannot determine that, it returns true.
func (p *Proxy) own(addr netip.Addr) bool {
	all, err := p.options.Own()
	if err != nil {
		return true
	}
	for _, one := range all {
		if network, ok := one.(*net.IPNet); ok {
			if own, ok := netip.AddrFromSlice(network.IP); ok && own.Unmap() == addr {
				return true
			}
		}
	}
	return false
}

// errNotChecked ends a connection to an address that was not checked. It cannot occur unless the dialer has a bug.
var errNotChecked = errors.New("the address was not checked")

// dial connects to one of the checked addresses. After the socket is created and before it connects, dial checks the
// address again. So no connection can go to another address.
func (x *exchange) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, x.session.proxy.options.Limits.Dial)
	defer cancel()
	var all error
	for i, addr := range x.addrs {
		dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error { return x.check(addr, address) }}
		// The time is divided, so that an address that does not respond does not use the time of the others.
		if until, ok := ctx.Deadline(); ok {
			dialer.Timeout = time.Until(until) / time.Duration(len(x.addrs)-i)
		}
		conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, x.target.Port).String())
		if err == nil {
			return x.keep(conn)
		}
		all = errors.Join(all, err)
	}
	return nil, all
}

// check returns an error unless a new connection goes to the approved address and that address is still allowed.
func (x *exchange) check(wanted netip.Addr, address string) error {
	got, err := netip.ParseAddrPort(address)
	if err != nil || got.Addr().Unmap() != wanted || got.Port() != x.target.Port {
		return errNotChecked
	}
	if x.session.proxy.never(wanted, x.target.Port) != "" || !x.target.Addr.IsValid() && x.session.classOf(wanted, x.target.Port) != "" {
		return errNotChecked
	}
	return nil
}

// keep registers a connection, so that Close closes it. It returns a connection whose bytes are counted.
func (x *exchange) keep(conn net.Conn) (net.Conn, error) {
	d := x.session
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.Join(context.Canceled, conn.Close())
	}
	if d.open == nil {
		d.open = map[net.Conn]struct{}{}
	}
	_ = conn.SetDeadline(x.began.Add(d.proxy.options.Limits.Exchange))
	counted := &counted{Conn: conn, exchange: x}
	d.open[counted] = struct{}{}
	return counted, nil
}

// counted is a connection whose bytes count towards the byte limit of the run.
type counted struct {
	net.Conn
	exchange *exchange
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if limit := c.exchange.count(n); limit != nil {
		return 0, errors.Join(limit, c.Close())
	}
	return n, err
}

func (c *counted) Write(p []byte) (int, error) {
	if limit := c.exchange.count(len(p)); limit != nil {
		return 0, errors.Join(limit, c.Close())
	}
	return c.Conn.Write(p)
}

// CloseWrite closes the write side of the connection.
func (c *counted) CloseWrite() error { return closeWrite(c.Conn) }

func (c *counted) Close() error {
	d := c.exchange.session
	d.mu.Lock()
	delete(d.open, c)
	d.mu.Unlock()
	return c.Conn.Close()
}

// count adds bytes to the run's total and returns the exceeded limit, if any.
func (x *exchange) count(n int) error {
	d := x.session
	d.mu.Lock()
	d.bytes += int64(n)
	over := d.bytes > d.proxy.options.Limits.Bytes
	d.mu.Unlock()
	x.mu.Lock()
	x.bytes += int64(n)
	x.mu.Unlock()
	if !over {
		return nil
	}
	why := tooMuch(x.target, d.proxy.options.Limits)
	x.stop(why)
	return why
}

// stop records the refusal that ended an allowed request.
func (x *exchange) stop(why *refusal) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.limit = why
}

// end reports the outcome of an allowed request. Only the first call has an effect.
func (x *exchange) end(decision runtimes.Decision) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.over = true
	if x.limit != nil {
		decision, x.rule = runtimes.EgressDenied, x.limit.rule
		x.session.mu.Lock()
		x.session.refused = x.limit
		x.session.mu.Unlock()
	}
	data, _ := json.Marshal(runtimes.EgressData{ // marshaling plain fields never fails
		Host: x.target.Host, Port: x.target.Port, Decision: decision, Rule: x.rule, Bytes: x.bytes,
		Ms: float64(time.Since(x.began).Microseconds()) / 1000,
	})
	x.session.Emit(runtimes.Event{Kind: runtimes.KindEgress, Data: data})
	x.session.proxy.options.Meter.Egress(decision, x.bytes)
}
