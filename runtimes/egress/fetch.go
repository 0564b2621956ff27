package egress

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
)

// Function is the name of the host function for HTTP requests.
const Function = "fetch"

const (
	maxRedirects = 20
	maxHeaders   = 100
	httpsPort    = 443
)

// fetchArgs are the arguments of fetch. The body is either the text in Body or the bytes in Base64.
type fetchArgs struct {
	URL      string      `json:"url"`
	Method   string      `json:"method"`
	Headers  [][2]string `json:"headers"`
	Body     *string     `json:"body"`
	Base64   []byte      `json:"base64"`
	Redirect string      `json:"redirect"` // follow, error, manual
}

// fetched is the result of fetch. If the body is UTF-8 and not mostly control characters, it is in Text, otherwise in
// Base64.
type fetched struct {
	URL        string      `json:"url"`
	Redirected bool        `json:"redirected"`
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	Headers    [][2]string `json:"headers"`
	Text       *string     `json:"text,omitempty"`
	Base64     string      `json:"base64,omitempty"`
}

// Call executes the host function fetch. It forwards other calls to the session's Host.
func (d *Session) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if name != Function {
		return d.Host.Call(ctx, name, args)
	}
	if !d.enter() {
		return nil, context.Canceled
	}
	defer d.joined.Done()
	request, redirect, err := readFetch(args)
	if err != nil {
		return nil, &runtimes.CallError{Code: "invalid_arguments", Message: "fetch: " + err.Error() + "."}
	}
	ctx, cancel := context.WithTimeout(ctx, d.proxy.options.Limits.Exchange)
	defer cancel()
	answer, err := d.fetch(request.WithContext(ctx), redirect)
	var why *refusal
	switch {
	case errors.As(err, &why):
		return nil, why.callError()
	case err != nil:
		return nil, &runtimes.CallError{Code: "failed", Message: fmt.Sprintf("fetch: %s is unreachable or sent an invalid answer.", request.URL.Host)}
	}
	return encode(answer)
}

// growth is the maximum ratio of the JSON size of a text to its own size. A text with a higher ratio is returned as
// Base64, because a reply to a program has a size limit.
const growth = 2

func encode(answer *fetched) (json.RawMessage, error) {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if answer.Text != nil {
		if err := encoder.Encode(*answer.Text); err != nil {
			return nil, err
		}
		if encoded.Len() > growth*len(*answer.Text)+len("\"\"\n") {
			answer.Base64, answer.Text = base64.StdEncoding.EncodeToString([]byte(*answer.Text)), nil
		}
		encoded.Reset()
	}
	err := encoder.Encode(answer)
	return bytes.TrimSuffix(encoded.Bytes(), []byte("\n")), err
}

// readFetch creates a request from the arguments of fetch.
func readFetch(args json.RawMessage) (*http.Request, string, error) {
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.DisallowUnknownFields()
	var asked fetchArgs
	if err := decoder.Decode(&asked); err != nil {
		return nil, "", errors.New("the arguments must be an object with the fields url, method, headers, body and redirect")
	}
	address, err := url.Parse(asked.URL)
	switch {
	case err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "":
		return nil, "", errors.New("url must begin with http:// or https:// and contain a host")
	case address.User != nil:
		return nil, "", errors.New("url must not contain a user name or password; use a header")
	case !slices.Contains([]string{"", "follow", "error", "manual"}, asked.Redirect):
		return nil, "", errors.New("redirect must be follow, error or manual")
	case len(asked.Headers) > maxHeaders:
		return nil, "", fmt.Errorf("a request must have at most %d headers", maxHeaders)
	}
	body := asked.Base64
	if asked.Body != nil {
		body = []byte(*asked.Body)
	}
	method := strings.ToUpper(asked.Method)
	if method == "" {
		method = http.MethodGet
	}
	if slices.Contains([]string{"CONNECT", "TRACE", "TRACK"}, method) {
		return nil, "", fmt.Errorf("the method %s is not allowed", method)
	}
	address.Fragment = ""
	request, err := http.NewRequest(method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, "", errors.New("the method is not a valid HTTP method")
	}
	for _, header := range asked.Headers {
		if !httpguts.ValidHeaderFieldName(header[0]) || !httpguts.ValidHeaderFieldValue(header[1]) {
			return nil, "", errors.New("a header has an invalid name or value")
		}
		if !hostpattern.Framing(header[0]) {
			request.Header.Add(header[0], header[1])
		}
	}
	if request.Header.Get("User-Agent") == "" {
		request.Header.Set("User-Agent", "atelier")
	}
	return request, asked.Redirect, nil
}

// errRedirected is the error of a request whose response is a redirect, if the request has redirect: error.
var errRedirected = errors.New("the answer is a redirect")

func (d *Session) fetch(request *http.Request, redirect string) (*fetched, error) {
	client := http.Client{Transport: hop{d}, CheckRedirect: func(next *http.Request, before []*http.Request) error {
		switch {
		case redirect == "manual":
			return http.ErrUseLastResponse
		case redirect == "error", len(before) > maxRedirects, next.URL.User != nil:
			return errRedirected
		}
		forget(next, before)
		return nil
	}}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	limit := d.proxy.options.Limits.Answer
	body, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > limit {
		return nil, &refusal{message: fmt.Sprintf("fetch: the answer is larger than %s.", bytesize.Text(limit))}
	}
	_, phrase, _ := strings.Cut(answer.Status, " ")
	result := &fetched{
		URL: answer.Request.URL.String(), Redirected: answer.Request != request, Status: answer.StatusCode, StatusText: phrase, Headers: [][2]string{},
	}
	for name, values := range answer.Header {
		for _, value := range values {
			result.Headers = append(result.Headers, [2]string{strings.ToLower(name), strings.ToValidUTF8(value, "\uFFFD")})
		}
	}
	slices.SortStableFunc(result.Headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	if utf8.Valid(body) {
		text := string(body)
		result.Text = &text
	} else {
		result.Base64 = base64.StdEncoding.EncodeToString(body)
	}
	return result, nil
}

// forget removes from a redirected request the headers that the next server must not receive. It always removes the
// Referer, because net/http sends the complete previous address in it. After a redirect to another origin, it also
// removes the credentials for the first origin, as the Fetch standard specifies. net/http would send these to other
// ports and to subdomains.
func forget(next *http.Request, before []*http.Request) {
	for _, request := range before {
		if origin(request.URL) != origin(next.URL) {
			for _, name := range []string{"Authorization", "Cookie", "Cookie2", "Referer"} {
				next.Header.Del(name)
			}
			return
		}
	}
	if before[0].Header.Get("Referer") == "" {
		next.Header.Del("Referer")
	}
}

// origin returns the scheme, host and port of a URL.
func origin(address *url.URL) string {
	port := address.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[address.Scheme]
	}
	return address.Scheme + "://" + net.JoinHostPort(strings.ToLower(address.Hostname()), port)
}

// hop is a transport that sends each request through the session. A redirect becomes a separate request through the
// same session.
type hop struct{ session *Session }

// RoundTrip implements http.RoundTripper.
func (h hop) RoundTrip(request *http.Request) (*http.Response, error) {
	port := uint16(httpPort)
	if request.URL.Scheme == "https" {
		port = httpsPort
	}
	target, err := hostpattern.ParseHostPort(request.URL.Host, port)
	if err == nil && request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		err = errors.New("the URL must begin with http:// or https://")
	}
	if err != nil {
		why := badForm(err)
		h.session.malformed(why)
		return nil, why
	}
	x, why := h.session.begin(request.Context(), target)
	if why != nil {
		return nil, why
	}
	sent := request.Clone(request.Context())
	sent.Host = target.Authority(port)
	sent.URL.Host = target.String()
	var transport http.RoundTripper = x.transport()
	if secrets := h.session.bound.to(target, sent.URL.Scheme); len(secrets) > 0 {
		transport = carrier{transport, request.Context(), h.session.bound, secrets}
	}
	answer, err := transport.RoundTrip(sent)
	if err != nil {
		x.end(runtimes.EgressFailed)
		return nil, errors.Join(x.failure(), err)
	}
	answer.Request = request
	answer.Body = &ending{ReadCloser: answer.Body, exchange: x}
	return answer, nil
}

// ending is the body of a response. Closing it ends the exchange.
type ending struct {
	io.ReadCloser
	exchange *exchange
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = errors.Join(e.exchange.failure(), err)
	}
	return n, err
}

func (e *ending) Close() error {
	err := e.ReadCloser.Close()
	e.exchange.end(runtimes.EgressAllowed)
	return err
}

// Transport returns a transport for an HTTP client. Each of its requests, including each redirect, is subject to the
// session's rules.
func (d *Session) Transport() http.RoundTripper { return hop{d} }
