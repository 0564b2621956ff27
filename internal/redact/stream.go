package redact

import "strings"

// Stream redacts text that arrives in pieces. A value may begin in one piece and end in another. So a Stream holds back
// text that may be the beginning of a value; the length of this text is limited. A nil Stream redacts nothing.
type Stream struct {
	redactor *Redactor
	even     bool // replace each byte of a value by a star, instead of replacing each value by Stars
	held     string
	inside   []tail // values that were found and continue as long as the text equals one of them
	reach    int    // number of bytes of held that belong to a match
}

// Stream returns a new Stream. It returns nil for a nil Redactor.
func (m *Redactor) Stream() *Stream {
	if m == nil {
		return nil
	}
	return &Stream{redactor: m}
}

// Write adds a piece of text and returns all text that is known to contain no secret.
func (s *Stream) Write(piece string) string {
	if s == nil {
		return piece
	}
	return s.pass(piece, false)
}

// End returns the text that is still held back, after redacting it.
func (s *Stream) End() string {
	if s == nil {
		return ""
	}
	return s.pass("", true)
}

func (s *Stream) pass(piece string, last bool) string {
	text := []byte(s.held + piece)
	s.held = ""
	var out strings.Builder
	for i := 0; i < len(text); {
		if s.inside != nil {
			if i = s.follow(text, i, last, &out); s.inside != nil {
				return out.String()
			}
			continue
		}
		if !s.redactor.begins[text[i]] {
			start := i
			for i < len(text) && !s.redactor.begins[text[i]] {
				i++
			}
			out.Write(text[start:i])
			continue
		}
		end, found, short := s.redactor.find(text, i)
		switch {
		case short && !last: // the text at this position may be the beginning of a longer value
			s.held = string(text[i:])
			return out.String()
		case found != nil:
			if s.even {
				out.WriteString(strings.Repeat("*", end-i))
			} else {
				out.WriteString(Stars)
			}
			i, s.inside = end, found
		default:
			out.WriteByte(text[i])
			i++
		}
	}
	return out.String()
}

// follow continues the matches in s.inside from a position of the text. It returns the position up to which the text is
// processed. If a match may continue in the next piece, it stays in s.inside, and the unprocessed text stays in s.held.
func (s *Stream) follow(text []byte, from int, last bool, out *strings.Builder) int {
	end, least, on := from+s.reach, len(text), s.inside[:0]
	for _, one := range s.inside {
		stop, short := one.follow(text, from+one.skip)
		if end = max(end, stop); short && !last {
			least, one.skip = min(least, stop), stop
			on = append(on, one)
		}
	}
	s.inside, s.reach = nil, 0
	to := end
	if len(on) > 0 {
		for i := range on {
			on[i].skip -= least
		}
		to, s.inside, s.reach, s.held = least, on, end-least, string(text[least:])
	}
	if s.even {
		out.WriteString(strings.Repeat("*", to-from))
	}
	return to
}
