package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/llm"
	"github.com/atelier-run/atelier/studio/specs"
)

// Model is the language model that programs may call with askLLM.
type Model interface {
	AskProgram(ctx context.Context, workspace string, messages []llm.Message) (llm.Reply, error)
}

// modelRule is the name of the rule in errors of askLLM.
const modelRule = "language model"

// maxQuestion is the maximum size in bytes of a prompt with its context. It is limited because the guest sends both in
// one message.
const maxQuestion = 128 << 10

// askModel calls the language model for a program, and records the call and its tokens.
func (h host) askModel(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	l := h.execution
	began := l.service.Now()
	facts := runtimes.CallData{Function: specs.AskFunction, Status: "succeeded"}
	text, used, err := h.question(ctx, args)
	if total := used.Total(); total > 0 {
		facts.Tokens = total
		l.update(func(run *registry.Run) { run.TokensUsed += total })
	}
	facts.Ms = ms(l.service.Now().Sub(began))
	var refused *runtimes.CallError
	switch {
	case errors.As(err, &refused):
		l.noteDenied(refused)
		facts.Status, facts.Error = "refused", refused.Message
	case err != nil:
		facts.Status, facts.Error = "refused", "An internal error of the server occurred."
	}
	l.emit(runtimes.KindCall, facts)
	if err != nil {
		return nil, err
	}
	return json.Marshal(text)
}

// question checks the arguments and calls the model. It returns the number of used tokens even if the call fails.
func (h host) question(ctx context.Context, args json.RawMessage) (text string, used registry.Tokens, err error) {
	l := h.execution
	var asked struct {
		Prompt  string `json:"prompt"`
		Context string `json:"context"`
	}
	if err := decode(args, &asked); err != nil {
		return "", used, invalid("askLLM(prompt, context)", err)
	}
	refuse := func(code, format string, a ...any) error {
		return &runtimes.CallError{Code: code, Message: "askLLM: " + fmt.Sprintf(format, a...), Rule: modelRule}
	}
	switch {
	case !slices.Contains(l.job.Capabilities.HostFunctions, specs.AskFunction):
		return "", used, &runtimes.CallError{
			Code: string(runtimes.Denied), Message: "askLLM: the program is not allowed to use the language model.", Rule: modelRule, Remedy: `Add "askLLM" to capabilities.hostFunctions.`,
		}
	case l.private:
		return "", used, &runtimes.CallError{
			Code: string(runtimes.Denied), Message: "askLLM: the program has the flag pii_risk, so its data is not sent to a language model.", Rule: modelRule,
			Remedy: "Call askLLM in another agent that receives no personal data.",
		}
	case asked.Prompt == "":
		return "", used, refuse("invalid_arguments", "prompt must not be empty.")
	case len(asked.Prompt)+len(asked.Context) > maxQuestion:
		return "", used, refuse("invalid_arguments", "prompt and context must have at most %s.", bytesize.Text(maxQuestion))
	case l.service.Model == nil:
		return "", used, refuse(string(fault.ModelUnavailable), "No LLM provider configured.")
	}
	if most := l.service.ModelTokens; most > 0 && l.family.tokens.Load() >= most {
		return "", used, refuse("token_limit", "the run has used %d of %d tokens. Ask the operator of the server to raise --llm-tokens-per-run.", l.family.tokens.Load(), most)
	}
	question := asked.Prompt
	if asked.Context != "" {
		question = "<context>\n" + asked.Context + "\n</context>\n\n" + asked.Prompt
	}
	if l.redactor != nil {
		question = l.redactor.Text(question)
	}
	reply, err := l.service.Model.AskProgram(ctx, l.job.Workspace, []llm.Message{{Role: "user", Content: question}})
	l.family.tokens.Add(reply.Tokens.Total())
	var failed *fault.Error
	if errors.As(err, &failed) && slices.Contains([]fault.Code{fault.ModelUnavailable, fault.QuotaExceeded, fault.BudgetExceeded, fault.Cancelled}, failed.Code) {
		err = refuse(string(failed.Code), "%s", failed.Message)
	}
	return reply.Text, reply.Tokens, err
}
