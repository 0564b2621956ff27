package mask

import "strings"

// Stream masks a text that arrives in pieces: a value may begin in one and end in another. It holds back what may be the
// beginning of one, which is never much. A nil stream masks nothing.
type Stream struct {
	mask   *Mask
	even   bool // as many stars as the value has bytes
	held   string
	inside *form // a value was found, and goes on for as long as the text is this
	at     int   // in inside
}

// Stream returns a stream that has seen nothing, nil for a nil mask.
func (m *Mask) Stream() *Stream {
	if m == nil {
		return nil
	}
	return &Stream{mask: m}
}

// Write takes a piece and returns what is known to be no secret of all that was taken so far.
func (s *Stream) Write(piece string) string {
	if s == nil {
		return piece
	}
	return s.pass(piece, false)
}

// End returns what was held back.
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
			end, at, short := s.inside.follow(text, i, s.at)
			if s.even {
				out.WriteString(strings.Repeat("*", end-i))
			}
			i, s.at = end, at
			if short && !last {
				s.held = string(text[i:])
				return out.String()
			}
			s.inside = nil
			continue
		}
		if s.mask.forms[text[i]] == nil {
			start := i
			for i < len(text) && s.mask.forms[text[i]] == nil {
				i++
			}
			out.Write(text[start:i])
			continue
		}
		end, f, at, short := s.mask.find(text, i)
		switch {
		case short && !last: // it may also be the beginning of a longer one
			s.held = string(text[i:])
			return out.String()
		case f != nil:
			if s.even {
				out.WriteString(strings.Repeat("*", end-i))
			} else {
				out.WriteString(Stars)
			}
			i, s.inside, s.at = end, f, at
		default:
			out.WriteByte(text[i])
			i++
		}
	}
	return out.String()
}
