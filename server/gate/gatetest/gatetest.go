// Package gatetest has a connection for tests of several entry points.
package gatetest

import (
	"net/http/httptest"
	"time"
)

// Connection is a writer that remembers until when its client may take to send.
type Connection struct {
	*httptest.ResponseRecorder
	Until time.Time
}

// Connect returns a connection whose client may take its time.
func Connect() *Connection { return &Connection{ResponseRecorder: httptest.NewRecorder()} }

// SetReadDeadline is what http.ResponseController asks for.
func (c *Connection) SetReadDeadline(until time.Time) error {
	c.Until = until
	return nil
}
