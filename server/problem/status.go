package problem

import (
	"context"
	"errors"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

// clientGone is what the log shows for a request whose client did not wait. Nobody receives it.
const clientGone = 499

// Status is the HTTP status of a code. This is the only place that knows.
func Status(code fault.Code) int {
	switch code {
	case fault.Internal:
		return http.StatusInternalServerError
	case fault.BadRequest:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden, fault.StorageFull, fault.BadHost, fault.BadOrigin:
		return http.StatusForbidden
	case fault.NotFound, fault.NoWorkspace:
		return http.StatusNotFound
	case fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case fault.StaleDraft, fault.VersionExists, fault.NameTaken, fault.NoVersion, fault.Conflict, fault.SecretMissing, fault.IdempotencyMismatch:
		return http.StatusConflict
	case fault.BodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.UnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	case fault.InvalidInput, fault.VersionRequired, fault.BumpTooSmall:
		return http.StatusUnprocessableEntity
	case fault.PreconditionRequired:
		return http.StatusPreconditionRequired
	case fault.QueueFull, fault.QuotaExceeded, fault.TooManyRequests:
		return http.StatusTooManyRequests
	case fault.SandboxUnavailable, fault.RuntimeUnavailable, fault.ProviderUnavailable, fault.StorageUnavailable, fault.RunInterrupted, fault.ShuttingDown:
		return http.StatusServiceUnavailable
	case fault.Cancelled:
		return clientGone
	}
	return http.StatusInternalServerError // a code of no known kind is a fault of ours
}

// FromStatus is the fault that a framework's own refusal stands for: it knows a status and what is wrong where.
func FromStatus(status int, details []fault.Detail) *fault.Error {
	switch status {
	case http.StatusUnprocessableEntity:
		return &fault.Error{Code: fault.InvalidInput, Message: "The input is not valid.", Details: details}
	case http.StatusBadRequest:
		return &fault.Error{Code: fault.BadRequest, Message: "The request is malformed.", Details: details}
	case http.StatusRequestEntityTooLarge:
		return fault.New(fault.BodyTooLarge, "The body is larger than this endpoint allows.")
	case http.StatusUnsupportedMediaType:
		return fault.New(fault.UnsupportedMediaType, "The body must be application/json.")
	}
	return fault.New(fault.Internal, "Internal error.")
}

// unclassified is what an error of no known code is to a caller.
func unclassified(err error) *fault.Error {
	if errors.Is(err, context.Canceled) {
		return fault.New(fault.Cancelled, "The request was cancelled.")
	}
	return fault.New(fault.Internal, "Internal error.")
}

func title(status int) string {
	if status == clientGone {
		return "Client Closed Request"
	}
	return http.StatusText(status)
}
