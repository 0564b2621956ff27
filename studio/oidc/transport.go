package oidc

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"time"
)

const (
	responseTimeout = 10 * time.Second // timeout for one response of the provider
	maxBody         = 1 << 20          // bytes of its body
)

// bounded limits the bodies of responses, and allows unencrypted connections only to this machine. The limits also
// apply to addresses from the provider's metadata and redirects.
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
