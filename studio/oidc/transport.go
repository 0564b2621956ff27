package oidc

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	responseTimeout = 10 * time.Second // maximum duration of one request to the provider
	maxBody         = 1 << 20          // maximum size of a response body in bytes
)

// bounded limits the size of response bodies, and allows unencrypted connections only to this machine. The limits also
// apply to addresses from the provider's metadata and from redirects.
type bounded struct{ next *http.Transport }

// RoundTrip sends one request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !loopback(r.URL.Hostname()) {
		return nil, errors.New(r.URL.Redacted() + " is not encrypted")
	}
	response, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = limited{io.LimitReader(response.Body, maxBody), response.Body}
	return response, nil
}

// keysEvery is the minimum time between two successful fetches of the provider's keys.
const keysEvery = 10 * time.Second

// errEarly is the error of a fetch that comes less than keysEvery after the last one.
var errEarly = errors.New("the keys were fetched a moment ago")

// spaced limits how often the provider's keys are fetched. Without this limit, anyone could cause many requests to the
// provider by sending tokens that no known key has signed. A failed fetch may be repeated at once.
type spaced struct {
	next http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	last time.Time // time of the last successful fetch
}

// RoundTrip fetches the keys.
func (s *spaced) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	early := s.now().Sub(s.last) < keysEvery
	s.mu.Unlock()
	if early {
		return nil, errEarly
	}
	response, err := s.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK {
		s.mu.Lock()
		s.last = s.now()
		s.mu.Unlock()
	}
	return response, err
}

// CloseIdleConnections implements the optional interface of http.Client.
func (b bounded) CloseIdleConnections() { b.next.CloseIdleConnections() }

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

type limited struct {
	io.Reader
	io.Closer
}
