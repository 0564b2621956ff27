package problem

import (
	"context"
	"errors"
	"net/http"
	"syscall"

	"github.com/atelier-run/atelier/internal/fault"
)

// clientGone is the status that is logged for a request whose client disconnected. It is never sent.
const clientGone = 499

// Status returns the HTTP status of a code. No other function maps codes to statuses.
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
	case fault.BudgetExceeded:
		return http.StatusPaymentRequired
	case fault.NotFound, fault.NoWorkspace:
		return http.StatusNotFound
	case fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case fault.StaleDraft, fault.VersionExists, fault.NameTaken, fault.NoVersion, fault.Conflict, fault.ApprovalRequired, fault.TestsFailed, fault.SecretMissing, fault.IdempotencyMismatch:
		return http.StatusConflict
	case fault.BodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.UnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	case fault.InvalidInput, fault.VersionRequired, fault.BumpTooSmall, fault.PolicyBlocked:
		return http.StatusUnprocessableEntity
	case fault.PreconditionRequired:
		return http.StatusPreconditionRequired
	case fault.UpgradeRequired:
		return http.StatusUpgradeRequired
	case fault.QueueFull, fault.QuotaExceeded, fault.TooManyRequests:
		return http.StatusTooManyRequests
	case fault.SandboxUnavailable, fault.RuntimeUnavailable, fault.ProviderUnavailable, fault.IndexUnavailable, fault.ModelUnavailable, fault.StorageUnavailable, fault.RunInterrupted, fault.ShuttingDown:
		return http.StatusServiceUnavailable
	case fault.ContentChanged:
		return http.StatusBadGateway
	case fault.Cancelled:
		return clientGone
	}
	return http.StatusInternalServerError // A fault with an unknown code is an internal error.
}

// FromStatus converts an error answer of a framework, which has a status and details, to a fault.
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

// unclassified converts an error that has no known code to an internal fault.
func unclassified(err error) *fault.Error {
	if errors.Is(err, context.Canceled) {
		return fault.New(fault.Cancelled, "The request was cancelled.")
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
		if errors.Is(err, full) {
			return &fault.Error{Code: fault.StorageUnavailable, Message: "The disk of the server is full or read-only.", Err: err}
		}
	}
	return fault.New(fault.Internal, "Internal error.")
}

func title(status int) string {
	if status == clientGone {
		return "Client Closed Request"
	}
	return http.StatusText(status)
}
