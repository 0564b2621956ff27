package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Message is one turn of a conversation with a model.
type Message struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// Reply is the answer of a model.
type Reply struct {
	Text   string
	Model  string          // name of the model that wrote the answer
	Tokens registry.Tokens // estimated if the model does not report tokens
	Sent   bool            // whether the model received the request and did not reject it; such a request uses tokens even if no answer arrives
}

const (
	maxReply    = 1 << 20 // maximum size of one answer in bytes
	maxRefusals = 4       // maximum number of attempts while the model is busy
)

// These are the HTTP status codes with which a model's server may answer.
const (
	badRequest     = 400
	unauthorized   = 401
	forbidden      = 403
	notFound       = 404
	notAllowed     = 405
	unprocessable  = 422
	tooMany        = 429
	serverError    = 500
	notImplemented = 501
)

// ModelOptions configures a Model.
type ModelOptions struct {
	BaseURL   string // for example http://127.0.0.1:11434/v1
	Name      string
	Key       string        // API key; "" if the server needs none
	Timeout   time.Duration // maximum duration of one request
	Delay     time.Duration // delay before the first retry if the model is busy; it doubles before each further retry
	LongDelay time.Duration // maximum delay before a retry
}

// Model is a client of the Chat Completions API of OpenAI, which local servers offer too. It is safe for concurrent
// use.
type Model struct {
	ModelOptions

	client    *http.Client
	schemaOff atomic.Bool // whether the server rejects the field response_format
	middleOff atomic.Bool // whether the server or the model lacks support for fill-in-the-middle
	boundOff  atomic.Bool // whether the model rejects the field max_tokens
}

// NewModel returns a model.
func NewModel(o ModelOptions) *Model {
	return &Model{ModelOptions: o, client: &http.Client{
		Timeout:       o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // Do not follow redirects: this could send the key to another server.
	}}
}

// Close closes idle connections.
func (m *Model) Close() { m.client.CloseIdleConnections() }

type chatRequest struct {
	Model    string          `json:"model"`
	Messages []Message       `json:"messages"`
	Format   *responseFormat `json:"response_format,omitempty"`
	// MaxTokens is the maximum length of the answer; 0 means no limit.
	MaxTokens int `json:"max_tokens,omitempty"`
}

type responseFormat struct {
	Type   string       `json:"type"`
	Schema formatSchema `json:"json_schema"`
}

type formatSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

type chatReply struct {
	Choices []struct {
		Text    string `json:"text"` // answer text in the format of the Completions API
		Message struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
	} `json:"usage"`
}

func (r chatReply) tokens() registry.Tokens {
	return registry.Tokens{Input: r.Usage.PromptTokens, Output: r.Usage.CompletionTokens}
}

// refusal is the error for a response whose status is not 200.
type refusal struct {
	status int
	after  time.Duration // delay from the header Retry-After, 0 if the header is missing
}

func (r *refusal) Error() string { return "status " + strconv.Itoa(r.status) }

// busy reports whether the same request may succeed later.
func (r *refusal) busy() bool { return r.status == tooMany || r.status >= serverError }

// unsupported reports whether the status means that the server does not support the operation, the model or a field of
// the request.
func (r *refusal) unsupported() bool {
	switch r.status {
	case badRequest, notFound, notAllowed, unprocessable, notImplemented:
		return true
	}
	return false
}

// Ask sends a conversation and returns the answer. shape is the JSON Schema of the answer, or nil for free text. Ask
// retries while the model is busy. Error: ModelUnavailable.
func (m *Model) Ask(ctx context.Context, messages []Message, shape json.RawMessage) (Reply, error) {
	delay := m.Delay
	for n := 1; ; n++ {
		reply, err := m.ask(ctx, messages, shape)
		var refused *refusal
		if errors.As(err, &refused) && refused.status == badRequest && shape != nil && !m.schemaOff.Load() {
			// A server without structured output rejects the field response_format. Repeat the request without this field: the
			// prompt also describes the format.
			if reply, err = m.ask(ctx, messages, nil); err == nil {
				m.schemaOff.Store(true)
			}
			refused = nil
			_ = errors.As(err, &refused)
		}
		if refused == nil || !refused.busy() || n >= maxRefusals {
			return reply, m.described(err)
		}
		wait := max(delay, refused.after)
		if refused.after > m.LongDelay {
			return reply, m.described(err)
		}
		if err := Pause(ctx, min(wait, m.LongDelay)); err != nil {
			return reply, err
		}
		delay *= 2
	}
}

// Pause waits for a duration. If the context ends first, it returns an error.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fault.New(fault.Cancelled, "The request was cancelled.")
	case <-timer.C:
		return nil
	}
}

func (m *Model) ask(ctx context.Context, messages []Message, shape json.RawMessage) (Reply, error) {
	question := chatRequest{Model: m.Name, Messages: messages}
	if shape != nil && !m.schemaOff.Load() {
		question.Format = &responseFormat{Type: "json_schema", Schema: formatSchema{Name: "answer", Strict: true, Schema: shape}}
	}
	text, sent, err := m.post(ctx, "/chat/completions", question)
	if err != nil {
		return Reply{Sent: sent, Model: m.Name}, err
	}
	reply, err := read(text)
	reply.Model = m.Name
	return reply, err
}

// Gap is a position in a text at which a model should insert text.
type Gap struct{ Before, After string }

// fillTokens is the maximum length in tokens of the text for a gap.
const fillTokens = 160

type fillRequest struct {
	Model       string `json:"model"`
	Prompt      string `json:"prompt"`
	Suffix      string `json:"suffix"`
	MaxTokens   int    `json:"max_tokens"`
	Temperature int    `json:"temperature"`
}

// Fill returns the text for a gap, from the Completions API. If the model does not support fill-in-the-middle, Fill
// sends inWords to the chat API instead. If the model is busy, Fill does not retry. Error: ModelUnavailable.
func (m *Model) Fill(ctx context.Context, gap Gap, inWords []Message) (Reply, error) {
	if reply, able, err := m.fill(ctx, gap); able {
		return reply, m.described(err)
	}
	reply, err := m.askBriefly(ctx, inWords)
	return reply, m.described(err)
}

// askBriefly requests a text of a few lines. If the model reaches the limit, the text before the limit is returned.
func (m *Model) askBriefly(ctx context.Context, messages []Message) (Reply, error) {
	question := chatRequest{Model: m.Name, Messages: messages, MaxTokens: fillTokens}
	if m.boundOff.Load() {
		question.MaxTokens = 0
	}
	text, sent, err := m.post(ctx, "/chat/completions", question)
	var refused *refusal
	if errors.As(err, &refused) && refused.status == badRequest && question.MaxTokens > 0 { // Reasoning models reject max_tokens, so repeat the request without it.
		question.MaxTokens = 0
		if text, sent, err = m.post(ctx, "/chat/completions", question); err == nil {
			m.boundOff.Store(true)
		}
	}
	if err != nil {
		return Reply{Sent: sent, Model: m.Name}, err
	}
	reply, err := read(text)
	reply.Model = m.Name
	if errors.Is(err, errCut) {
		err = nil
	}
	return reply, err
}

// fill requests the text for a gap. able is false if the model does not support fill-in-the-middle.
func (m *Model) fill(ctx context.Context, gap Gap) (reply Reply, able bool, err error) {
	if m.middleOff.Load() {
		return Reply{}, false, nil
	}
	text, sent, err := m.post(ctx, "/completions", fillRequest{Model: m.Name, Prompt: gap.Before, Suffix: gap.After, MaxTokens: fillTokens})
	var refused *refusal
	if err != nil && (!errors.As(err, &refused) || !refused.unsupported()) {
		return Reply{Sent: sent, Model: m.Name}, true, err
	}
	var answer chatReply
	if err != nil || json.Unmarshal(text, &answer) != nil || len(answer.Choices) == 0 { // The address may also belong to a server of another kind.
		m.middleOff.Store(true)
		return Reply{}, false, nil
	}
	return Reply{Sent: true, Text: answer.Choices[0].Text, Tokens: answer.tokens(), Model: m.Name}, true, nil
}

// post sends a request and returns the body of the answer. got reports whether the model received the request and did
// not reject it.
func (m *Model) post(ctx context.Context, path string, question any) (answer []byte, got bool, err error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, false, err
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { sent.Store(i.Err == nil) }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	r.Header.Set("Content-Type", "application/json")
	if m.Key != "" {
		r.Header.Set("Authorization", "Bearer "+m.Key)
	}
	response, err := m.client.Do(r)
	if err != nil {
		return nil, sent.Load(), err
	}
	defer func() { _ = response.Body.Close() }() // The body was read, so an error of Close has no effect.
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, response.StatusCode == http.StatusOK, err
	case response.StatusCode != http.StatusOK:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // The header may contain a date instead, which model servers do not send. The delay is then 0.
		return nil, false, &refusal{status: response.StatusCode, after: time.Duration(max(seconds, 0)) * time.Second}
	case len(text) > maxReply:
		return nil, true, errors.New("the answer is larger than 1 MiB")
	}
	return text, true, nil
}

var errCut = errors.New("the answer was cut at the model's limit of tokens")

func read(text []byte) (Reply, error) {
	var answer chatReply
	if err := json.Unmarshal(text, &answer); err != nil {
		return Reply{Sent: true}, errors.New("the answer does not have the form of the Chat Completions API")
	}
	reply := Reply{Sent: true, Tokens: answer.tokens()}
	switch {
	case len(answer.Choices) == 0:
		return reply, errors.New("the answer has no choices")
	case answer.Choices[0].FinishReason == "length":
		reply.Text = answer.Choices[0].Message.Content
		return reply, errCut
	case answer.Choices[0].Message.Refusal != "":
		return reply, errors.New("the model refused to answer: " + fault.Shown(answer.Choices[0].Message.Refusal, 200))
	}
	reply.Text = answer.Choices[0].Message.Content
	return reply, nil
}

// described returns the error for the caller. It omits the address and the key of the model.
func (m *Model) described(err error) error {
	if err == nil {
		return nil
	}
	var refused *refusal
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err // Omit the address.
	}
	text := "The language model did not answer: " + fault.Shown(err.Error(), 300) + "."
	switch {
	case errors.Is(err, context.Canceled):
		return fault.New(fault.Cancelled, "The request was cancelled.")
	case errors.As(err, &refused) && (refused.status == unauthorized || refused.status == forbidden):
		text = fmt.Sprintf("The language model rejected the API key (status %d). The operator of the server must correct ATELIER_LLM_API_KEY.", refused.status)
	case errors.As(err, &refused) && refused.status == notFound:
		text = "The language model does not exist at the configured address (status 404). The operator of the server must correct ATELIER_LLM_BASE_URL and ATELIER_LLM_MODEL."
	case errors.As(err, &refused) && refused.busy():
		return &fault.Error{Code: fault.ModelUnavailable, Message: fmt.Sprintf("The language model is busy (status %d). Try again later.", refused.status), RetryAfter: max(refused.after, time.Second)}
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		text = "The language model did not answer in time. Try again, or ask the operator of the server to raise --llm-timeout."
	case isUnreachable(err):
		text = "The language model cannot be reached. Ask the operator of the server to check --llm-base-url."
	}
	return &fault.Error{Code: fault.ModelUnavailable, Message: text, Err: err}
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

func isUnreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}
