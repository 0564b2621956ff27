// Package webhook notifies another system about requests for approval and about budgets. It sends signed HTTP requests
// in the format of the Standard Webhooks specification. A failed request is sent again.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/registry"
)

// Store stores webhook messages and the results of their delivery.
type Store interface {
	DueDeliveries(ctx context.Context, now time.Time, limit int) ([]registry.Delivery, error)
	SaveDelivery(ctx context.Context, d registry.Delivery) error
}

// Sender sends one request and returns the status of the answer. It does not follow redirects.
type Sender interface {
	Send(ctx context.Context, url string, headers [][2]string, body []byte) (status int, err error)
}

// Options configures a Service.
type Options struct {
	Store   Store
	Sender  Sender
	URL     string
	Secrets [][]byte      // keys that sign each message; the receiver must accept one of the signatures
	Retry   time.Duration // wait before the second attempt
	Log     *slog.Logger
	Now     func() time.Time
}

// Service delivers webhooks.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

const (
	// maxAttempts is the maximum number of attempts of a delivery.
	maxAttempts = 10
	// growth is the factor by which the wait grows after each attempt.
	growth = 4
	// maxWait is the maximum wait between two attempts.
	maxWait = 6 * time.Hour
	// attemptTimeout is the maximum duration of an attempt.
	attemptTimeout = 15 * time.Second
	// batch is the maximum number of deliveries that are read at once.
	batch = 20
)

// Deliver sends all due deliveries.
func (s *Service) Deliver(ctx context.Context) {
	for ctx.Err() == nil {
		due, err := s.Store.DueDeliveries(ctx, s.Now(), batch)
		if err != nil && ctx.Err() == nil {
			s.Log.LogAttrs(ctx, slog.LevelError, "read due deliveries", slog.Any("error", err))
		}
		if err != nil || len(due) == 0 {
			return
		}
		for _, d := range due {
			if err := s.attempt(ctx, d); err != nil {
				if ctx.Err() == nil {
					s.Log.LogAttrs(ctx, slog.LevelError, "deliver webhook", slog.String("delivery", d.ID), slog.Any("error", err))
				}
				return // Stop here, because the next query would return the same delivery again at once.
			}
		}
	}
}

// attempt sends a delivery once and stores the outcome. If the server stops during the attempt, the attempt does not
// count.
func (s *Service) attempt(ctx context.Context, d registry.Delivery) error {
	sending, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	status, failure := s.Sender.Send(sending, s.URL, s.headers(d), d.Payload)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	now := s.Now()
	d.Attempts++
	d.NextAt = nil
	switch {
	case failure == nil && status >= 200 && status < 300:
		d.State, d.DeliveredAt, d.LastError = registry.DeliveryDelivered, &now, ""
	case failure == nil && status == gone || d.Attempts >= maxAttempts:
		d.State, d.LastError = registry.DeliveryFailed, reason(status, failure)
	default:
		next := now.Add(wait(s.Retry, d.Attempts))
		d.NextAt, d.LastError = &next, reason(status, failure)
	}
	if d.State != registry.DeliveryDelivered {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "webhook was not delivered", slog.String("delivery", d.ID), slog.String("approval", d.ApprovalID), slog.Int("attempts", d.Attempts),
			slog.Bool("given_up", d.State == registry.DeliveryFailed), slog.String("error", d.LastError))
	}
	return s.Store.SaveDelivery(ctx, d)
}

// gone is the status with which a receiver refuses all further webhooks.
const gone = 410

// reason returns the reason why an attempt failed. It contains only the status of the response, not the body.
func reason(status int, err error) string {
	switch {
	case err != nil && errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("The receiver did not answer within %s.", attemptTimeout)
	case err != nil:
		return err.Error()
	case status >= 300 && status < 400:
		return fmt.Sprintf("The receiver answered with the redirect %d, which is not followed.", status)
	}
	return fmt.Sprintf("The receiver answered with status %d.", status)
}

// wait returns the time until the next attempt.
func wait(first time.Duration, attempts int) time.Duration {
	next := first
	for range attempts - 1 {
		if next *= growth; next >= maxWait {
			return maxWait
		}
	}
	return min(next, maxWait)
}

// headers returns the HTTP headers of an attempt. The signature covers the ID, the time and the payload.
func (s *Service) headers(d registry.Delivery) [][2]string {
	at := s.Now()
	var all []string
	for _, secret := range s.Secrets {
		all = append(all, Sign(secret, d.ID, at, d.Payload))
	}
	return [][2]string{
		{"content-type", "application/json"},
		{"webhook-id", d.ID},
		{"webhook-timestamp", strconv.FormatInt(at.Unix(), 10)},
		{"webhook-signature", strings.Join(all, " ")},
	}
}

// Sign returns the signature of a payload.
func Sign(secret []byte, id string, at time.Time, payload []byte) string {
	sum := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(sum, "%s.%d.%s", id, at.Unix(), payload) // Writing to a hash never fails.
	return "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil))
}
