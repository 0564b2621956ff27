package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLog returns a logger that writes lines of text or JSON. Control characters, escape sequences and marks that turn
// the direction of writing arrive escaped, so that a quoted name or message can neither forge a line nor move a cursor.
func NewLog(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		options.ReplaceAttr = escapeAttr
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options)) // quotes with strconv.Quote whatever is not printable
}

// Level reads debug, info, warn or error; anything else is info.
func Level(name string) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelInfo
	}
	return level
}

// escapeAttr escapes what encoding/json leaves as it is: C1 controls and the marks of writing direction.
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
