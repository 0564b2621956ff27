package store

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/atelier-run/atelier/internal/fault"
)

// wrap adds the name of the failed operation to an error. It returns an error unchanged if the error already has a code
// and a message. A failure of the database becomes StorageUnavailable, because it may be temporary and is not a bug of
// the server.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	if states(err, "22021", "22P05") {
		return &fault.Error{Code: fault.InvalidInput, Message: "The input contains the character U+0000, which cannot be stored.", Err: err}
	}
	err = fmt.Errorf("%s: %w", what, err)
	if why := outageOf(err); why != "" {
		return why.fault(err)
	}
	return err
}

// duplicate reports whether the database rejected a row because its key already exists.
func duplicate(err error) bool {
	return states(err, "23505") || constrains(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// orphan reports whether the database rejected a row because its parent row does not exist.
func orphan(err error) bool {
	return states(err, "23503") || constrains(err, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY)
}

// transient reports whether PostgreSQL aborted a transaction that may succeed if it is repeated: after a serialization
// failure or a deadlock.
func transient(err error) bool { return states(err, "40001", "40P01") }

func states(err error, codes ...string) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return false
	}
	for _, code := range codes {
		if refused.Code == code {
			return true
		}
	}
	return false
}

func constrains(err error, codes ...int) bool {
	var refused *sqlite.Error
	if !errors.As(err, &refused) {
		return false
	}
	for _, code := range codes {
		if refused.Code() == code {
			return true
		}
	}
	return false
}

func noAgent(nameOrID string) error {
	return fault.New(fault.NotFound, "Agent %s not found.", nameOrID)
}

func noVersion(numberOrDigest string) error {
	return fault.New(fault.NotFound, "Version %s not found.", numberOrDigest)
}

// interrupted returns the error for a write to a run that no longer belongs to this server.
func interrupted(id string) error {
	return &fault.Error{
		Code: fault.RunInterrupted, Message: "Another server took over the database during the run, and recorded the run as interrupted.",
		Extra: map[string]any{"runId": id},
	}
}

func noRun(id string) error { return fault.New(fault.NotFound, "Run %s not found.", id) }

func noToken(id string) error { return fault.New(fault.NotFound, "Token %s not found.", id) }
