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

// RuleBound denies a tunnel to a host that a secret is bound to: nobody could put it into what goes through.
const RuleBound = "secrets.bind"

// bound are the secrets of a run that requests to one host carry, as headers, and programs never see.
type bound struct {
	secrets  []runtimes.BoundSecret
	redactor *redact.Redactor // nil without secrets
}

func newBound(secrets []runtimes.BoundSecret) bound {
	var values []string
	for _, one := range secrets {
		values = append(values, one.Value, one.Secret)
	}
	return bound{secrets: secrets, redactor: redact.New(values)}
}

// to are the secrets for requests to a target. Nothing is sent in clear to the port of https.
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

// carry puts secrets into the head of a request, in the place of what the program wrote there, and asks for an answer in
// which they can be found again.
func carry(head http.Header, secrets []runtimes.BoundSecret) {
	for _, one := range secrets {
		head.Set(one.Header, one.Value)
	}
	head.Del("Accept-Encoding")
	head.Del("Range") // an answer in parts may cut a secret in two
}

// hide masks what an answer tells of secrets that its request carried.
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

// hiding is a body that is masked; with it trailers are there.
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

// carrier sends a request of the proxy with secrets. Early hints, which would be passed on as they are, are not asked for.
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
		_ = answer.Body.Close() // it is not passed on
		return nil, err
	}
	return answer, nil
}

func noTunnel(target hostpattern.Target, secret string) *refusal {
	return &refusal{
		rule: RuleBound, message: fmt.Sprintf("The secret %s is bound to %s and cannot be added to an encrypted tunnel.", secret, target),
		remedy: "Use ctx.fetch, which adds the secret, or remove the binding so that the program receives the secret.",
	}
}
