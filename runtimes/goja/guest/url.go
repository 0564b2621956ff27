package guest

import (
	_ "embed"
	"net/url"
	"strings"

	"github.com/dop251/goja"
	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/text/encoding/unicode"
)

//go:embed url.js
var urlSource string

// urlClasses runs url.js in the VM once and returns its exports.
func (r *run) urlClasses(vm *goja.Runtime) *goja.Object {
	return r.script(vm, "url.js", urlSource, func(native *goja.Object) {
		// Strings that pass through Go lose lone surrogates: these become U+FFFD, as the URL standard requires.
		method(vm, native, "text", func(call goja.FunctionCall) goja.Value { return vm.ToValue(call.Argument(0).String()) })
		method(vm, native, "kind", func(call goja.FunctionCall) goja.Value { return vm.ToValue(received(call.Argument(0))) })
		method(vm, native, "parse", func(call goja.FunctionCall) goja.Value { return parseURL(vm, call) })
		method(vm, native, "decode", func(call goja.FunctionCall) goja.Value { return decodeForm(vm, call.Argument(0).String()) })
		method(vm, native, "encode", func(call goja.FunctionCall) goja.Value { return vm.ToValue(encodeForm(vm, call.Argument(0))) })
	})
}

// parseURL implements parse(input, base). For an invalid URL it returns undefined. Otherwise it returns a function
// part(name, value). With one argument, part returns a part of the URL; with two, it sets that part.
func parseURL(vm *goja.Runtime, call goja.FunctionCall) goja.Value {
	var parsed *whatwg.Url
	var err error
	if base := call.Argument(1); goja.IsUndefined(base) {
		parsed, err = whatwg.Parse(call.Argument(0).String())
	} else if parsed, err = whatwg.Parse(base.String()); err == nil {
		parsed, err = parsed.Parse(call.Argument(0).String())
	}
	if err != nil {
		return goja.Undefined()
	}
	return vm.ToValue(func(call goja.FunctionCall) goja.Value {
		name := call.Argument(0).String()
		if len(call.Arguments) > 1 {
			setPart(parsed, name, call.Argument(1).String())
			return goja.Undefined()
		}
		return vm.ToValue(part(parsed, name))
	})
}

func part(u *whatwg.Url, name string) string {
	switch name {
	case "href":
		return u.Href(false)
	case "origin":
		return origin(u)
	case "protocol":
		return u.Protocol()
	case "username":
		return u.Username()
	case "password":
		return u.Password()
	case "host":
		return u.Host()
	case "hostname":
		return u.Hostname()
	case "port":
		return u.Port()
	case "pathname":
		return u.Pathname()
	case "search":
		return u.Search()
	case "query":
		return u.Query()
	case "hash":
		return u.Hash()
	}
	return ""
}

func setPart(u *whatwg.Url, name, value string) {
	switch name {
	case "protocol":
		u.SetProtocol(value)
	case "username":
		u.SetUsername(value)
	case "password":
		u.SetPassword(value)
	case "host":
		u.SetHost(value)
	case "hostname":
		u.SetHostname(value)
	case "port":
		u.SetPort(value)
	case "pathname":
		u.SetPathname(value)
	case "search":
		u.SetSearch(value)
	case "hash":
		u.SetHash(value)
	}
}

// origin returns the origin of a URL as text. It returns "null" if the scheme has no origins.
func origin(u *whatwg.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		if inner, err := whatwg.Parse(u.Pathname()); err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return origin(inner)
		}
	}
	return "null"
}

// decodeForm parses application/x-www-form-urlencoded text into a list of pairs.
func decodeForm(vm *goja.Runtime, query string) goja.Value {
	var pairs []any
	for field := range strings.SplitSeq(query, "&") {
		if field != "" {
			name, value, _ := strings.Cut(strings.ReplaceAll(field, "+", " "), "=")
			pairs = append(pairs, vm.NewArray(unescape(name), unescape(value)))
		}
	}
	return vm.NewArray(pairs...)
}

// unescape decodes percent escapes. A percent sign that is not followed by two hexadecimal digits stays unchanged.
// Bytes that are not UTF-8 become U+FFFD.
func unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if b, err := url.PathUnescape(text[i : i+3]); err == nil {
				out.WriteString(b)
				i += 2
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return decoded(unicode.UTF8, []byte(out.String()))
}

// encodeForm writes a list of pairs as application/x-www-form-urlencoded text.
func encodeForm(vm *goja.Runtime, pairs goja.Value) string {
	escape := func(v goja.Value) string {
		return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(v.String()), "%2A", "*"), "~", "%7E")
	}
	var fields []string
	vm.ForOf(pairs, func(pair goja.Value) bool {
		object := pair.ToObject(vm)
		fields = append(fields, escape(object.Get("0"))+"="+escape(object.Get("1")))
		return true
	})
	return strings.Join(fields, "&")
}

// received describes the value of an invalid argument as Node does.
func received(v goja.Value) string {
	switch {
	case goja.IsUndefined(v), goja.IsNull(v):
		return v.String()
	case goja.IsString(v):
		return "type string (" + quoted(v.String()) + ")"
	case goja.IsNumber(v):
		return "type number (" + number(v) + ")"
	}
	if object, ok := v.(*goja.Object); ok {
		return "an instance of " + object.ClassName()
	}
	return "type " + v.ExportType().String() + " (" + v.String() + ")"
}
