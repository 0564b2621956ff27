package oidc

import (
	"io"
	"net/http"
	"time"
)

const (
	patience = 10 * time.Second // for one answer of the provider
	maxBody  = 1 << 20          // bytes of it
)

// bounded cuts the bodies of answers.
type bounded struct{ next *http.Transport }

// RoundTrip carries out one request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = limited{io.LimitReader(response.Body, maxBody), response.Body}
	return response, nil
}

// CloseIdleConnections is what http.Client asks for.
func (b bounded) CloseIdleConnections() { b.next.CloseIdleConnections() }

type limited struct {
	io.Reader
	io.Closer
}
