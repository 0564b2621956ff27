// Package gatetest has a connection for tests of several entry points.
package gatetest

import (
	"net/http/httptest"
	"time"
)

// Connection is a writer that records the read deadline set on it.
type Connection struct {
	*httptest.ResponseRecorder
	Until time.Time
}

// Connect returns a connection without a read deadline.
func Connect() *Connection { return &Connection{ResponseRecorder: httptest.NewRecorder()} }

// SetReadDeadline is called by http.ResponseController.
func (c *Connection) SetReadDeadline(until time.Time) error {
	c.Until = until
	return nil
}
