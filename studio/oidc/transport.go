package oidc

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"time"
)

const (
	patience = 10 * time.Second // for one answer of the provider
	maxBody  = 1 << 20          // bytes of it
)

// bounded cuts the bodies of answers, and speaks without encryption to nobody but this machine: what the provider says of
// itself, or leads to, is held to that as well.
type bounded struct{ next *http.Transport }

// RoundTrip carries out one request.
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

// CloseIdleConnections is what http.Client asks for.
func (b bounded) CloseIdleConnections() { b.next.CloseIdleConnections() }

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

type limited struct {
	io.Reader
	io.Closer
}
