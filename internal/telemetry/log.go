package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLog returns a logger that writes lines of text or JSON. It escapes control characters, escape sequences and marks
// of writing direction. So a logged name or message cannot forge a line or move the cursor.
func NewLog(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		options.ReplaceAttr = escapeAttr
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options)) // the text handler quotes non-printable text with strconv.Quote
}

// Level parses a log level: debug, info, warn or error. Any other name means info.
func Level(name string) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelInfo
	}
	return level
}

// escapeAttr escapes characters that encoding/json leaves unchanged: C1 controls and marks of writing direction.
func escapeAttr(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(Escape(v.String()))
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			a.Value = slog.StringValue(Escape(err.Error()))
		} else if text, ok := v.Any().(fmt.Stringer); ok {
			a.Value = slog.StringValue(Escape(text.String()))
		}
	}
	return a
}
