package redact

import "strings"

// Stream redacts text that arrives in pieces, where a value may begin in one piece and end in another. It holds back text
// that may be the beginning of a value; the length of this text is limited. A nil stream redacts nothing.
type Stream struct {
	redactor *Redactor
	even     bool // replace each byte of a value by a star, instead of each value by Stars
	held     string
	inside   []tail // matched values that continue as long as the text equals one of them
	reach    int    // bytes of held that belong to a match
}

// Stream returns a new stream, or nil for a nil Redactor.
func (m *Redactor) Stream() *Stream {
	if m == nil {
		return nil
	}
	return &Stream{redactor: m}
}

// Write adds a piece and returns all text that is known to contain no secret.
func (s *Stream) Write(piece string) string {
	if s == nil {
		return piece
	}
	return s.pass(piece, false)
}

// End returns the held-back text.
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
		case short && !last: // it may also be the beginning of a longer value
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

// follow continues the matches in s.inside from a position. It returns the position up to which the text is processed. A
// match that may continue in the next piece stays in s.inside, and the unprocessed text stays in s.held.
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
