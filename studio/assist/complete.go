package assist

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/llm"
)

// Spot is the cursor position in a file of a draft. The file may have unsaved changes.
type Spot struct {
	Agent  string // name or ID of the agent
	File   string
	Before string // text before the cursor
	After  string // text after the cursor
}

// Suggestion is the text to insert at the cursor. Text is empty if the model suggests nothing.
type Suggestion struct {
	Text   string          `json:"text" doc:"Text to insert at the cursor. Empty if the model has no suggestion."`
	Model  string          `json:"model,omitempty" doc:"Name of the model. Absent if no request was sent to a model."`
	Tokens registry.Tokens `json:"tokens"`
}

const (
	maxBefore      = 8 << 10 // maximum number of bytes before the cursor that are sent to the model
	maxAfter       = 2 << 10
	maxSuggestion  = 2 << 10 // maximum size of a suggestion in bytes
	maxLines       = 12
	completeAtOnce = 4                // maximum number of concurrent suggestions of a workspace while no other workspace has any
	completeInAll  = 16               // maximum number of concurrent suggestions of all workspaces together
	completeTime   = 10 * time.Second // maximum duration; a later suggestion is useless because the person has typed on
)

// Complete suggests text for the cursor position. If too many suggestions are in progress, or the model is busy, it
// returns an error instead of waiting.
func (s *Service) Complete(ctx context.Context, actor registry.Actor, at Spot) (Suggestion, error) {
	if err := s.Model.Check(ctx, actor.Workspace); err != nil {
		return Suggestion{}, err
	}
	if !s.typing.enter(actor.Workspace) {
		return Suggestion{}, &fault.Error{Code: fault.ModelUnavailable, Message: "Other members wait for suggestions of the language model. Try again later.", RetryAfter: time.Second}
	}
	defer s.typing.leave(actor.Workspace)
	agent, err := s.Drafts.Agent(ctx, actor.Workspace, at.Agent)
	if err != nil {
		return Suggestion{}, err
	}
	hidden, err := s.hidden(ctx, agent)
	if err != nil {
		return Suggestion{}, err
	}
	before, after := hidden.Text(at.Before), hidden.Text(at.After)
	suggestion := Suggestion{}
	if hidden.Text(at.Before+at.After) != before+after { // The cursor is within the value of a secret.
		return suggestion, nil
	}
	gap := llm.Gap{Before: tail(before), After: head(after)}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	reply, err := s.Model.Fill(ctx, actor.Workspace, gap, completion(agent.Draft, at.File, gap))
	suggestion.Text, suggestion.Tokens, suggestion.Model = inserted(reply.Text, gap), reply.Tokens, reply.Model
	return suggestion, err
}

// completion returns the chat messages that ask a model for the text at a gap. They are used for models without a
// fill-in endpoint.
func completion(draft registry.Draft, file string, gap llm.Gap) []llm.Message {
	about := fmt.Sprintf("%s\nFile: %s\n<program>\n%s<cursor/>%s\n</program>", contract(draft.Language), fault.Shown(file, 200), gap.Before, gap.After)
	return []llm.Message{{Role: "system", Content: role + "\n\n" + completeTask}, {Role: "user", Content: about}}
}

// inserted returns the part of a model's answer that is inserted at the gap. It removes copies of the line before the
// gap and of the text after the gap, because models repeat them.
func inserted(answer string, gap llm.Gap) string {
	text := withoutFence(strings.ReplaceAll(answer, "\r\n", "\n"))
	line := gap.Before[strings.LastIndexByte(gap.Before, '\n')+1:]
	if strings.TrimSpace(line) != "" {
		text = strings.TrimPrefix(text, line)
	}
	// The answer is cut where it repeats the rest of the line, but only if this rest contains letters. Brackets that the
	// editor closes itself occur in most answers.
	if rest, _, _ := strings.Cut(gap.After, "\n"); strings.ContainsFunc(rest, unicode.IsLetter) {
		text, _, _ = strings.Cut(text, rest)
	}
	lines := strings.SplitAfterN(text, "\n", maxLines+1)
	text = strings.Join(lines[:min(len(lines), maxLines)], "")
	if len(text) > maxSuggestion {
		text = strings.ToValidUTF8(text[:maxSuggestion], "")
	}
	return strings.TrimRight(text, " \t\n")
}

// tail returns at most the last maxBefore bytes of the text before a gap. If it must cut the text, the result starts at
// the beginning of a line.
func tail(text string) string {
	if len(text) <= maxBefore {
		return text
	}
	text = text[len(text)-maxBefore:]
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		return rest
	}
	return strings.ToValidUTF8(text, "")
}

// head returns at most the first maxAfter bytes of the text after a gap. If it must cut the text, the result ends at
// the end of a line.
func head(text string) string {
	if len(text) <= maxAfter {
		return text
	}
	text = text[:maxAfter]
	if end := strings.LastIndexByte(text, '\n'); end >= 0 {
		return text[:end+1]
	}
	return strings.ToValidUTF8(text, "")
}
