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
	Agent  string // name or ID
	File   string
	Before string // text before the cursor
	After  string // text after the cursor
}

// Suggestion is text to insert at the cursor. Text is empty if the model suggests none.
type Suggestion struct {
	Text   string          `json:"text" doc:"Text to insert at the cursor. Empty if the model suggests none."`
	Model  string          `json:"model,omitempty" doc:"Absent if no model was asked."`
	Tokens registry.Tokens `json:"tokens"`
}

const (
	maxBefore      = 8 << 10 // maximum bytes before the cursor that the model gets
	maxAfter       = 2 << 10
	maxSuggestion  = 2 << 10 // maximum size of a suggestion in bytes
	maxLines       = 12
	completeAtOnce = 4                // concurrent suggestions of one workspace, if no other workspace has any
	completeInAll  = 16               // concurrent suggestions of all workspaces
	completeTime   = 10 * time.Second // a later suggestion is of no use to the person who types
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
	if hidden.Text(at.Before+at.After) != before+after { // the cursor is within the value of a secret
		return suggestion, nil
	}
	gap := llm.Gap{Before: tail(before), After: head(after)}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	reply, err := s.Model.Fill(ctx, actor.Workspace, gap, completion(agent.Draft, at.File, gap))
	suggestion.Text, suggestion.Tokens, suggestion.Model = inserted(reply.Text, gap), reply.Tokens, reply.Model
	return suggestion, err
}

// completion returns the messages that ask a model without a fill-in endpoint for the text at a gap.
func completion(draft registry.Draft, file string, gap llm.Gap) []llm.Message {
	about := fmt.Sprintf("%s\nFile: %s\n<program>\n%s<cursor/>%s\n</program>", contract(draft.Language), fault.Shown(file, 200), gap.Before, gap.After)
	return []llm.Message{{Role: "system", Content: role + "\n\n" + completeTask}, {Role: "user", Content: about}}
}

// inserted returns the part of an answer to insert at the gap. It removes the line before the gap and the text after
// it, because models repeat them.
func inserted(answer string, gap llm.Gap) string {
	text := withoutFence(strings.ReplaceAll(answer, "\r\n", "\n"))
	line := gap.Before[strings.LastIndexByte(gap.Before, '\n')+1:]
	if strings.TrimSpace(line) != "" {
		text = strings.TrimPrefix(text, line)
	}
	// Cut only at text with letters: the brackets that the editor closes occur in most answers.
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

// tail returns the last maxBefore bytes before a gap. If it cuts the text, it starts at a line.
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

// head returns the first maxAfter bytes after a gap. If it cuts the text, it ends at a line.
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
