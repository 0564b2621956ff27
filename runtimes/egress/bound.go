package egress

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/runtimes"
)

// RuleBound denies a tunnel to a host for which a secret is bound, because the proxy cannot add a header inside a
// tunnel.
const RuleBound = "secrets.bind"

// bound holds the secrets that the proxy adds as headers to requests to one host. Programs never see them.
type bound struct {
	secrets  []runtimes.BoundSecret
	redactor *redact.Redactor // nil if there are no secrets
}

func newBound(secrets []runtimes.BoundSecret) bound {
	var values []string
	for _, one := range secrets {
		values = append(values, one.Value, one.Secret)
	}
	return bound{secrets: secrets, redactor: redact.New(values)}
}

// to returns the secrets for requests to a target. It returns no secrets for an unencrypted request to the HTTPS port.
func (b bound) to(target hostpattern.Target, scheme string) (found []runtimes.BoundSecret) {
	if scheme == "http" && target.Port == httpsPort {
		return nil
	}
	for _, one := range b.secrets {
		if one.Host == target.String() {
			found = append(found, one)
		}
	}
	return found
}

// carry sets the headers of a request that contain secrets, and replaces the program's headers with the same names. It
// removes headers that allow a compressed or partial response, because the proxy cannot redact a secret in such a
// response.
func carry(head http.Header, secrets []runtimes.BoundSecret) {
	for _, one := range secrets {
		head.Set(one.Header, one.Value)
	}
	head.Del("Accept-Encoding")
	head.Del("Range") // a partial response may contain only a part of a secret, which is not recognized
}

// hide redacts the bound secrets in a response. It returns an error if the response is compressed.
func (b bound) hide(answer *http.Response) error {
	if coding := answer.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return fmt.Errorf("the answer is encoded as %q, in which a secret cannot be redacted", coding)
	}
	b.hideHead(answer.Header)
	answer.Status = b.redactor.Even(answer.Status)
	answer.Body = &hiding{Closer: answer.Body, redacted: b.redactor.Reader(answer.Body), done: func() { b.hideHead(answer.Trailer) }}
	return nil
}

func (b bound) hideHead(head http.Header) {
	for name, values := range head {
		for i, value := range values {
			values[i] = b.redactor.Even(value)
		}
		if hidden := b.redactor.Even(name); hidden != name {
			delete(head, name)
		}
	}
}

// hiding is a response body whose secrets are redacted. At the end of the body it also redacts the trailers.
type hiding struct {
	io.Closer
	redacted io.Reader
	done     func()
}

func (h *hiding) Read(p []byte) (int, error) {
	n, err := h.redacted.Read(p)
	if err == io.EOF {
		h.done()
	}
	return n, err
}

// carrier is a transport that adds secrets to requests and redacts them in responses. It sends requests with its own
// context, so that ReverseProxy does not receive early hints (status 103), which it would forward without redaction.
type carrier struct {
	http.RoundTripper
	ctx     context.Context
	bound   bound
	secrets []runtimes.BoundSecret
}

// RoundTrip implements http.RoundTripper.
func (c carrier) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := request.Clone(c.ctx)
	carry(sent.Header, c.secrets)
	answer, err := c.RoundTripper.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if err := c.bound.hide(answer); err != nil {
		_ = answer.Body.Close() // after an error, the response is not forwarded
		return nil, err
	}
	return answer, nil
}

func noTunnel(target hostpattern.Target, secret string) *refusal {
	return &refusal{
		rule: RuleBound, message: fmt.Sprintf("The secret %s is bound to %s, and the proxy cannot add it to an encrypted connection.", secret, target),
		remedy: "Use ctx.fetch, which adds the secret, or remove the binding so that the program receives the secret.",
	}
}
