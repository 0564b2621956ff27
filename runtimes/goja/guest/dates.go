package guest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// patchDates formats dates as Node does for en-US: 1/31/2024, 10:00:00 AM.
func patchDates(vm *goja.Runtime) {
	for name, parts := range map[string]dateDefaults{
		"toLocaleString":     {date: true, time: true},
		"toLocaleDateString": {date: true},
		"toLocaleTimeString": {time: true},
	} {
		method(vm, prototype(vm, "Date"), name, func(call goja.FunctionCall) goja.Value {
			object, ok := call.This.(*goja.Object)
			if !ok || kindOf(object) != dateObject {
				panic(vm.NewTypeError("this is not a Date object."))
			}
			ms := object.ToNumber().ToFloat()
			o := newOptions(vm, name, call, "weekday", "year", "month", "day", "hour", "minute", "second", "hour12", "timeZone", "dateStyle", "timeStyle")
			if math.IsNaN(ms) {
				return vm.ToValue("Invalid Date")
			}
			at := time.UnixMilli(int64(ms)).In(zone(o))
			return vm.ToValue(newDateFormat(o, parts).format(at))
		})
	}
}

// dateDefaults selects the parts to write when the options name none.
type dateDefaults struct{ date, time bool }

// zone returns the time zone of the options. The runtime uses UTC and has no table of other zones.
func zone(o options) *time.Location {
	switch name := o.text("timeZone"); name {
	case "":
		return time.Local
	case "UTC", "GMT", "Etc/UTC", "Etc/GMT":
		return time.UTC
	default:
		panic(noLocale(o.vm, o.method, fmt.Sprintf("the time zone %q", name)))
	}
}

// dateFormat selects the parts of a date to write and their styles.
type dateFormat struct {
	weekday, year, month, day string
	hour, minute, second      string
	hour24                    bool
	at                        bool // "January 1, 1970 at 12:00 AM"
}

func newDateFormat(o options, otherwise dateDefaults) dateFormat {
	numeric := []string{"numeric", "2-digit"}
	f := dateFormat{
		weekday: o.one("weekday", "long", "short"),
		year:    o.one("year", numeric...),
		month:   o.one("month", "numeric", "2-digit", "long", "short"),
		day:     o.one("day", numeric...),
		hour:    o.one("hour", numeric...),
		minute:  o.one("minute", numeric...),
		second:  o.one("second", numeric...),
		hour24:  o.text("hour12") == "false",
	}
	dateStyle, timeStyle := o.one("dateStyle", "full", "long", "medium", "short"), o.one("timeStyle", "medium", "short")
	if dateStyle != "" || timeStyle != "" {
		return styled(f, dateStyle, timeStyle)
	}
	named := f.weekday+f.year+f.month+f.day != ""
	timed := f.hour+f.minute+f.second != ""
	if otherwise.date && !named && (!timed || !otherwise.time) {
		f.year, f.month, f.day = "numeric", "numeric", "numeric"
	}
	if otherwise.time && !timed && (!named || !otherwise.date) {
		f.hour, f.minute, f.second = "numeric", "2-digit", "2-digit"
	}
	f.at = f.month == "long"
	return f
}

func styled(f dateFormat, dateStyle, timeStyle string) dateFormat {
	switch dateStyle {
	case "full":
		f.weekday, f.year, f.month, f.day = "long", "numeric", "long", "numeric"
	case "long":
		f.year, f.month, f.day = "numeric", "long", "numeric"
	case "medium":
		f.year, f.month, f.day = "numeric", "short", "numeric"
	case "short":
		f.year, f.month, f.day = "2-digit", "numeric", "numeric"
	}
	switch timeStyle {
	case "medium":
		f.hour, f.minute, f.second = "numeric", "2-digit", "2-digit"
	case "short":
		f.hour, f.minute = "numeric", "2-digit"
	}
	f.at = f.month == "long"
	return f
}

func (f dateFormat) format(t time.Time) string {
	date, clock := f.date(t), f.clock(t)
	switch {
	case date == "":
		return clock
	case clock == "":
		return date
	case f.at:
		return date + " at " + clock
	}
	return date + ", " + clock
}

func (f dateFormat) date(t time.Time) string {
	year := ""
	switch f.year {
	case "numeric":
		year = fmt.Sprint(t.Year())
	case "2-digit":
		year = fmt.Sprintf("%02d", t.Year()%100)
	}
	day := padded(f.day, t.Day())
	var text string
	switch f.month {
	case "long", "short":
		month := t.Month().String()
		if f.month == "short" {
			month = month[:3]
		}
		text = join(" ", month, day)
		if year != "" && day != "" {
			text += ", " + year
		} else {
			text = join(" ", text, year)
		}
	default:
		text = join("/", padded(f.month, int(t.Month())), day, year)
	}
	weekday := ""
	if f.weekday != "" {
		weekday = t.Weekday().String()
		if f.weekday == "short" {
			weekday = weekday[:3]
		}
	}
	return join(", ", weekday, text)
}

func (f dateFormat) clock(t time.Time) string {
	hour, half := t.Hour(), ""
	if !f.hour24 && f.hour != "" {
		half = "AM"
		if hour >= 12 {
			half = "PM"
		}
		if hour %= 12; hour == 0 {
			hour = 12
		}
	} else if f.hour24 && hour == 0 {
		hour = 24 // en-US writes midnight as 24 in 24-hour format
	}
	hours := padded(f.hour, hour)
	if f.hour24 && f.hour != "" {
		hours = fmt.Sprintf("%02d", hour)
	}
	minutes, seconds := padded(f.minute, t.Minute()), padded(f.second, t.Second())
	if f.hour != "" && f.minute != "" {
		minutes = fmt.Sprintf("%02d", t.Minute())
	}
	if f.minute != "" && f.second != "" {
		seconds = fmt.Sprintf("%02d", t.Second())
	}
	return join(" ", join(":", hours, minutes, seconds), half)
}

func padded(style string, n int) string {
	switch style {
	case "numeric":
		return fmt.Sprint(n)
	case "2-digit":
		return fmt.Sprintf("%02d", n)
	}
	return ""
}

func join(by string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, by)
}
