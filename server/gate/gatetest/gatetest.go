// Package gatetest contains a fake connection for the tests of several APIs.
package gatetest

import (
	"net/http/httptest"
	"time"
)

// Connection is a ResponseWriter that records the read deadline that was set.
type Connection struct {
	*httptest.ResponseRecorder
	Until time.Time
}

// Connect returns a connection that has no read deadline.
func Connect() *Connection { return &Connection{ResponseRecorder: httptest.NewRecorder()} }

// SetReadDeadline is called by http.ResponseController.
func (c *Connection) SetReadDeadline(until time.Time) error {
	c.Until = until
	return nil
}
