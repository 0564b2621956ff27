package app

import (
	"errors"
	"fmt"
)

// closers closes resources in reverse order of opening.
type closers struct{ all []closer }

type closer struct {
	what  string
	close func() error
}

func (c *closers) add(what string, closing func() error) {
	c.all = append(c.all, closer{what, closing})
}

func (c *closers) close() error {
	var errs []error
	for len(c.all) > 0 {
		last := c.all[len(c.all)-1]
		c.all = c.all[:len(c.all)-1]
		if err := last.close(); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", last.what, err))
		}
	}
	return errors.Join(errs...)
}

// joinClose joins an error with the error of closing a resource. err comes first, because it is the cause.
func joinClose(err, closing error) error {
	switch {
	case err == nil:
		return closing
	case closing == nil:
		return err
	}
	return errors.Join(err, closing)
}
