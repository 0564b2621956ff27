package specs

import (
	"errors"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// faults collects all problems of a spec, so that a person can fix them all at once.
type faults struct{ all []fault.Detail }

func (f *faults) addf(pointer, format string, args ...any) {
	f.all = append(f.all, fault.Invalid(pointer, format, args...).Details...)
}

// add adds the details of an error. If the error is nil, it adds nothing.
func (f *faults) add(err error) {
	if err == nil {
		return
	}
	var e *fault.Error
	if errors.As(err, &e) && len(e.Details) > 0 {
		f.all = append(f.all, e.Details...)
		return
	}
	f.all = append(f.all, fault.Detail{Message: err.Error()})
}

func (f *faults) err() error {
	if len(f.all) == 0 {
		return nil
	}
	return &fault.Error{Code: fault.InvalidInput, Message: "The agent is not valid.", Details: f.all}
}

// at puts the JSON pointer of a field in front of the pointers of an error.
func at(field string, err error) error {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	moved := *e
	moved.Details = make([]fault.Detail, len(e.Details))
	for i, d := range e.Details {
		d.Pointer = field + d.Pointer
		moved.Details[i] = d
	}
	return &moved
}

// escape converts a path to a single token of a JSON pointer.
func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
