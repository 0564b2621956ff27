package guest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	pb "github.com/atelier-run/atelier/runtimes/monty/montypb"
)

// Kinds of host objects. The first byte of an object's ID is the kind, and the last byte is a number.
const (
	ctxObject      = 1
	responseObject = 2
)

const mostResponses = 255

func object(kind, number byte) *pb.Uuid {
	id := make([]byte, 16)
	id[0], id[15] = kind, number
	return &pb.Uuid{Data: id}
}

// instance adds a host object, whose methods the guest implements.
func (a *arena) instance(class string, kind, number byte, attributes ...*pb.NodePair) uint32 {
	of := a.add(&pb.MontyNode{Kind: &pb.MontyNode_Type{Type: &pb.Type{Name: class, Id: object(kind+128, 0), Origin: pb.TypeOrigin_TYPE_ORIGIN_HOST}}})
	return a.add(&pb.MontyNode{Kind: &pb.MontyNode_ClassInstance{ClassInstance: &pb.ClassInstanceNode{
		ClassType: of, InstanceId: object(kind, number), Attrs: &pb.NodePairs{Pairs: attributes},
	}}})
}

func (a *arena) attribute(name string, value uint32) *pb.NodePair {
	return &pb.NodePair{Key: a.text(name), Value: value}
}

// call returns the code that calls main with the input. It follows the rules of the Python engine: a first parameter
// named input receives the whole input; other parameters receive the property with their name.
func (s *session) call(main function) (*pb.Feed, *runtimes.ProgramError, error) {
	values := &arena{}
	feed := &pb.Feed{}
	bind := func(name string, value uint32) string {
		name = "__atelier_" + name
		feed.Inputs = append(feed.Inputs, &pb.NamedRef{Name: name, Value: value})
		return name
	}
	var properties map[string]json.RawMessage
	_ = json.Unmarshal(s.job.Input, &properties) // properties stays nil if the input is not an object
	isObject := strings.HasPrefix(strings.TrimSpace(string(s.job.Input)), "{")
	var args, missing []string
	if main.skill() {
		return s.action(feed, values, properties, isObject)
	}
	for i, p := range main.parameters {
		name := strings.TrimLeft(p.name, "_")
		var value json.RawMessage
		property, known := properties[p.name]
		switch {
		case p.rest:
			continue
		case p.others:
			if first := strings.TrimLeft(main.parameters[0].name, "_"); first == "input" {
				continue
			}
			rest := map[string]json.RawMessage{}
			for k, v := range properties {
				if !main.takes(k) {
					rest[k] = v
				}
			}
			value, _ = json.Marshal(rest) // marshaling valid JSON never fails
		case i == 0 && (name == "input" || name == "" && p.name != ""):
			value = s.job.Input
		case name == "ctx" || name == "context":
			args = append(args, argument(p, bind("ctx", s.context(values))))
			continue
		case known:
			value = property
		case p.optional:
			continue
		case i == 0 && !isObject:
			value = s.job.Input
		default:
			missing = append(missing, "'"+p.name+"'")
			continue
		}
		at, err := values.json(value)
		if err != nil {
			return nil, nil, fmt.Errorf("input: %w", err)
		}
		args = append(args, argument(p, bind(fmt.Sprint(i), at)))
	}
	if len(missing) > 0 {
		return nil, &runtimes.ProgramError{
			Type: runtimes.RuntimeError, Message: fmt.Sprintf("%s() needs %s, which the input does not have.", main.name, strings.Join(missing, " and ")), File: s.job.Entry, Line: main.line,
			Remedy: "Name the first parameter input to get the whole input, or give the parameter a default.",
		}, nil
	}
	feed.Code, feed.Values = main.name+"("+strings.Join(args, ", ")+")", values.message()
	if main.async {
		feed.Code = "await " + feed.Code
	}
	return feed, nil, nil
}

// skill reports whether the function has the form of a skill: run(action, args).
func (f function) skill() bool {
	return f.name == "run" && len(f.parameters) >= 2 && f.parameters[0].name == "action" && f.parameters[1].name == "args"
}

// action returns the code that calls a skill, run(action, args). If the input has the property action, the skill
// receives the properties action and args. Otherwise it receives the action "run" and the whole input.
func (s *session) action(feed *pb.Feed, values *arena, properties map[string]json.RawMessage, isObject bool) (*pb.Feed, *runtimes.ProgramError, error) {
	action, args := json.RawMessage(`"run"`), s.job.Input
	var name string
	if given := properties["action"]; isObject && json.Unmarshal(given, &name) == nil {
		action, args = given, orElse(properties["args"], "{}")
	}
	for i, value := range []json.RawMessage{action, args} {
		at, err := values.json(value)
		if err != nil {
			return nil, nil, fmt.Errorf("input: %w", err)
		}
		feed.Inputs = append(feed.Inputs, &pb.NamedRef{Name: fmt.Sprintf("__atelier_%d", i), Value: at})
	}
	feed.Code, feed.Values = "run(__atelier_0, __atelier_1)", values.message()
	return feed, nil, nil
}

// takes reports whether the function has a parameter with a name that can be passed by name.
func (f function) takes(name string) bool {
	for _, p := range f.parameters {
		if p.name == name && !p.positional {
			return true
		}
	}
	return false
}

func argument(p parameter, value string) string {
	switch {
	case p.others:
		return "**" + value
	case p.positional:
		return value
	}
	return p.name + "=" + value
}

// context adds the object ctx to values.
func (s *session) context(values *arena) uint32 {
	return values.instance("Context", ctxObject, 0, values.attribute("env", values.object(s.job.Env)))
}

// answer executes a call that the program makes and returns the reply to the interpreter.
func (s *session) answer(event *pb.ChildEvent) (*pb.ParentRequest, error) {
	switch kind := event.GetKind().(type) {
	case *pb.ChildEvent_FunctionCall:
		return s.function(kind.FunctionCall)
	case *pb.ChildEvent_OsCall:
		return s.system(kind.OsCall), nil
	case *pb.ChildEvent_NameLookup:
		return &pb.ParentRequest{Kind: &pb.ParentRequest_ResumeNameLookup{ResumeNameLookup: &pb.ResumeNameLookup{Kind: &pb.ResumeNameLookup_Undefined{Undefined: &pb.Unit{}}}}}, nil
	case *pb.ChildEvent_ResolveFutures:
		return nil, errors.New("monty waits for a call that already has a reply")
	}
	return nil, fmt.Errorf("monty sent an unknown event: %T", event.GetKind())
}

func resume(id uint32, values *arena, result *pb.ExtFunctionResult) *pb.ParentRequest {
	return &pb.ParentRequest{Kind: &pb.ParentRequest_ResumeCall{ResumeCall: &pb.ResumeCall{CallId: id, Result: result, Values: values.message()}}}
}

func returns(value uint32) *pb.ExtFunctionResult {
	return &pb.ExtFunctionResult{Kind: &pb.ExtFunctionResult_ReturnValue{ReturnValue: value}}
}

func raises(kind, message string) *pb.ExtFunctionResult {
	return &pb.ExtFunctionResult{Kind: &pb.ExtFunctionResult_Error{Error: &pb.RaisedException{ExcType: kind, Message: &message}}}
}

// system replies to a call of the operating system. A program can only read its environment variables and sleep.
func (s *session) system(call *pb.OsCall) *pb.ParentRequest {
	values := &arena{}
	switch kind := call.GetCall().(type) {
	case *pb.OsCall_Getenv:
		if value, ok := s.job.Env[kind.Getenv.GetKey()]; ok {
			return resume(call.GetCallId(), values, returns(values.text(value)))
		}
		values.nodes = call.GetValues().GetNodes()
		return resume(call.GetCallId(), values, returns(kind.Getenv.GetDefault()))
	case *pb.OsCall_GetEnviron:
		return resume(call.GetCallId(), values, returns(values.object(s.job.Env)))
	case *pb.OsCall_SystemSleep:
		time.Sleep(time.Duration(kind.SystemSleep.GetSeconds() * float64(time.Second)))
		return resume(call.GetCallId(), values, returns(values.none()))
	case *pb.OsCall_AsyncSystemSleep:
		time.Sleep(time.Duration(kind.AsyncSystemSleep.GetDelay() * float64(time.Second)))
		return resume(call.GetCallId(), values, returns(values.none()))
	}
	return resume(call.GetCallId(), values, &pb.ExtFunctionResult{Kind: &pb.ExtFunctionResult_NotHandled{NotHandled: &pb.Unit{}}})
}

// function executes a call of a method of ctx or of a response, and returns the reply.
func (s *session) function(call *pb.FunctionCall) (*pb.ParentRequest, error) {
	id := call.GetObjectId().GetData()
	values := &arena{}
	if len(id) != 16 {
		return resume(call.GetCallId(), values, &pb.ExtFunctionResult{Kind: &pb.ExtFunctionResult_NotFound{NotFound: call.GetFunctionName()}}), nil
	}
	if id[0] == responseObject && int(id[15]) < len(s.responses) {
		return resume(call.GetCallId(), values, s.responses[id[15]].method(call.GetFunctionName(), values)), nil
	}
	result, err := s.method(call, values)
	return s.answered(call.GetCallId(), values, result, err)
}

// answered returns the reply to a call: the result, or the exception for an error.
func (s *session) answered(id uint32, values *arena, result uint32, err error) (*pb.ParentRequest, error) {
	var refused *runtimes.CallError
	var bad *flaw
	switch {
	case errors.As(err, &bad):
		return resume(id, values, raises("TypeError", bad.message)), nil
	case errors.As(err, &refused):
		return resume(id, values, s.refusal(refused)), nil
	case err != nil:
		return nil, err
	}
	return resume(id, values, returns(result)), nil
}

// refusal returns the exception that a program receives for a refused call.
func (s *session) refusal(e *runtimes.CallError) *pb.ExtFunctionResult {
	switch e.Code {
	case "denied":
		s.denied = e
		return raises("PermissionError", e.Message)
	case "invalid_arguments":
		return raises("ValueError", e.Message)
	}
	return raises("RuntimeError", e.Message)
}

// given holds the arguments of a call, each as JSON.
type given struct {
	list  []json.RawMessage
	named map[string]json.RawMessage
}

func arguments(call *pb.FunctionCall) (given, error) {
	g := given{named: map[string]json.RawMessage{}}
	encode := func(at uint32, path string) (json.RawMessage, error) {
		e := &encoder{nodes: call.GetValues().GetNodes(), largest: maxCall}
		if err := e.write(at, path, 0); err != nil {
			if errors.Is(err, errTooLarge) {
				err = &runtimes.CallError{Code: "invalid_arguments", Message: "A host call must have at most 1 MiB."}
			}
			return nil, err
		}
		return e.out.Bytes(), nil
	}
	for i, at := range call.GetArgs() {
		value, err := encode(at, fmt.Sprintf("argument %d", i+1))
		if err != nil {
			return g, err
		}
		g.list = append(g.list, value)
	}
	for _, pair := range call.GetKwargs() {
		name, err := (&encoder{nodes: call.GetValues().GetNodes()}).key(pair.GetKey(), "arguments")
		if err != nil {
			return g, err
		}
		if g.named[name], err = encode(pair.GetValue(), name); err != nil {
			return g, err
		}
	}
	return g, nil
}

// pop returns an argument by position or, if there is none, by name. It removes a named argument, so that unknown names
// remain. It returns nil if the argument is missing.
func (g *given) pop(position int, name string) json.RawMessage {
	if position < len(g.list) {
		return g.list[position]
	}
	value := g.named[name]
	delete(g.named, name)
	return value
}

// text returns an argument as text: a string unchanged, and another value as its JSON.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// method calls a function of ctx.
func (s *session) method(call *pb.FunctionCall, values *arena) (uint32, error) {
	g, err := arguments(call)
	if err != nil {
		return 0, err
	}
	switch call.GetFunctionName() {
	case "log":
		return s.log(g, values)
	case "progress":
		if len(g.list) > 3 {
			return 0, g.tooMany("progress", 3)
		}
		args := map[string]any{"done": g.pop(0, "done"), "total": orElse(g.pop(1, "total"), "0"), "message": text(g.pop(2, "message"))}
		return s.invoke("progress", args, values)
	case "fetch":
		return s.fetch(g, values)
	case "ask_llm", "askLLM":
		if len(g.list) > 2 {
			return 0, g.tooMany("ask_llm", 2)
		}
		args := map[string]any{"prompt": text(orElse(g.pop(0, "prompt"), `""`)), "context": text(orElse(g.pop(1, "context"), `""`))}
		return s.invoke("askLLM", args, values)
	case "call_tool", "callTool":
		return s.callTool(g, values)
	case "call":
		if len(g.list) > 1 {
			return 0, g.tooMany("call", 1)
		}
		name := text(g.pop(0, "name"))
		if name == runtimes.AwaitFunction {
			return 0, notForPrograms(name)
		}
		return s.invoke(name, g.named, values)
	}
	if len(g.list) > 0 {
		return 0, g.tooMany(call.GetFunctionName(), 0)
	}
	name := camel(call.GetFunctionName())
	if name == runtimes.AwaitFunction {
		return 0, notForPrograms(name)
	}
	return s.invoke(name, g.named, values)
}

// notForPrograms returns the error for a host function that only the guest may call, not the program.
func notForPrograms(name string) error {
	return &runtimes.CallError{Code: "denied", Message: fmt.Sprintf("Unknown host function %q.", name), Rule: "host functions"}
}

// tooMany returns the error for too many positional arguments.
func (g *given) tooMany(function string, most int) error {
	return &flaw{message: fmt.Sprintf("ctx.%s takes at most %d arguments without a name, not %d", function, most, len(g.list))}
}

// isNull reports whether an argument is None.
func isNull(value json.RawMessage) bool { return string(value) == "null" }

func orElse(value json.RawMessage, other string) json.RawMessage {
	if value == nil {
		return json.RawMessage(other)
	}
	return value
}

// invoke calls a host function and adds its result to values. If the called agent's run has not ended, invoke waits for
// the end of that run.
func (s *session) invoke(name string, args any, values *arena) (uint32, error) {
	result, err := s.host.call(name, args)
	var refused *runtimes.CallError
	if errors.As(err, &refused) && refused.Code == runtimes.WaitsCode {
		result, err = s.wait(refused.Message)
	}
	if err != nil || len(result) == 0 {
		return values.none(), err
	}
	return values.json(result)
}

// camel converts the name of a method to the name of the host function: read_file becomes readFile.
func camel(name string) string {
	head, rest, _ := strings.Cut(name, "_")
	for _, part := range strings.Split(rest, "_") {
		if part != "" {
			head += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return head
}

// levels maps names of log levels, including those of Python's module logging, to the log levels of events.
var levels = map[string]string{"debug": "debug", "info": "info", "warn": "warn", "warning": "warn", "error": "error", "critical": "error"}

func (s *session) log(g given, values *arena) (uint32, error) {
	level, message := "info", ""
	switch len(g.list) {
	case 0:
		return 0, &flaw{message: "ctx.log needs a level and a message"}
	case 1:
		message = text(g.list[0])
	default:
		level, message = text(g.list[0]), text(g.list[1])
	}
	known, ok := levels[strings.ToLower(level)]
	if !ok {
		return 0, &runtimes.CallError{Code: "invalid_arguments", Message: fmt.Sprintf("log level %q must be debug, info, warn or error", level)}
	}
	args := map[string]any{"level": known, "message": message}
	fields := map[string]json.RawMessage{}
	if len(g.list) > 3 {
		return 0, g.tooMany("log", 3)
	}
	if len(g.list) > 2 && !isNull(g.list[2]) && json.Unmarshal(g.list[2], &fields) != nil {
		return 0, &flaw{message: "the fields of ctx.log must be a dict"}
	}
	for name, value := range g.named {
		fields[name] = value
	}
	if len(fields) > 0 {
		args["fields"] = fields
	}
	return s.invoke("log", args, values)
}

// callTool calls another agent: ctx.call_tool(reference, input). The program can also pass the properties of the input
// as named arguments.
func (s *session) callTool(g given, values *arena) (uint32, error) {
	if len(g.list) == 0 || len(g.list) > 2 {
		return 0, &flaw{message: "ctx.call_tool needs a reference and at most one input; other arguments must be named"}
	}
	reference, input := text(g.list[0]), json.RawMessage(nil)
	if len(g.list) > 1 && !isNull(g.list[1]) {
		input = g.list[1]
	}
	if len(g.named) > 0 {
		properties := map[string]json.RawMessage{}
		if input != nil && json.Unmarshal(input, &properties) != nil {
			return 0, &flaw{message: "the input of ctx.call_tool must be a dict if properties follow"}
		}
		for name, value := range g.named {
			properties[name] = value
		}
		return s.invoke("callTool", map[string]any{"reference": reference, "input": properties}, values)
	}
	return s.invoke("callTool", map[string]any{"reference": reference, "input": orElse(input, "{}")}, values)
}

// response is the result of ctx.fetch.
type response struct {
	URL        string     `json:"url"`
	Status     int        `json:"status"`
	StatusText string     `json:"statusText"`
	Redirected bool       `json:"redirected"`
	Headers    [][]string `json:"headers"`
	Text       *string    `json:"text"`
	Base64     string     `json:"base64"`
}

func (s *session) fetch(g given, values *arena) (uint32, error) {
	if len(g.list) > 5 {
		return 0, g.tooMany("fetch", 5)
	}
	args := map[string]any{"url": text(g.pop(0, "url")), "method": "GET", "redirect": "follow"}
	for i, name := range []string{"method", "headers", "body", "redirect"} {
		value := g.pop(i+1, name)
		switch {
		case value == nil || string(value) == "null":
		case name == "headers":
			headers, err := pairs(value)
			if err != nil {
				return 0, err
			}
			args[name] = headers
		default:
			args[name] = text(value)
		}
	}
	for name := range g.named {
		return 0, &flaw{message: fmt.Sprintf("ctx.fetch has no parameter %q", name)}
	}
	if len(s.responses) == mostResponses {
		return 0, &runtimes.CallError{Code: "failed", Message: fmt.Sprintf("A Monty program can fetch at most %d times.", mostResponses)}
	}
	reply, err := s.host.call("fetch", args)
	if err != nil {
		return 0, err
	}
	r := &response{}
	if err := json.Unmarshal(reply, r); err != nil {
		return 0, err
	}
	s.responses = append(s.responses, r)
	headers := map[string]string{}
	for _, pair := range r.Headers {
		if len(pair) == 2 {
			if before, twice := headers[pair[0]]; twice {
				pair[1] = before + ", " + pair[1]
			}
			headers[pair[0]] = pair[1]
		}
	}
	ok := values.add(&pb.MontyNode{Kind: &pb.MontyNode_Boolean{Boolean: r.Status >= 200 && r.Status < 300}})
	status := values.add(&pb.MontyNode{Kind: &pb.MontyNode_Int{Int: int64(r.Status)}})
	redirected := values.add(&pb.MontyNode{Kind: &pb.MontyNode_Boolean{Boolean: r.Redirected}})
	attributes := []*pb.NodePair{
		values.attribute("ok", ok), values.attribute("status", status), values.attribute("redirected", redirected), values.attribute("url", values.text(r.URL)),
		values.attribute("status_text", values.text(r.StatusText)), values.attribute("headers", values.object(headers)),
	}
	return values.instance("Response", responseObject, byte(len(s.responses)-1), attributes...), nil
}

// pairs converts headers to a list of name and value. A program passes headers as a dict or as such a list.
func pairs(value json.RawMessage) ([][]string, error) {
	var list [][]string
	if json.Unmarshal(value, &list) == nil {
		return list, nil
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(value, &named) != nil {
		return nil, &flaw{message: "the headers of ctx.fetch must be a dict or a list of pairs"}
	}
	for name, v := range named {
		list = append(list, []string{name, text(v)})
	}
	return list, nil
}

// method returns the result of a method of a response.
func (r *response) method(name string, values *arena) *pb.ExtFunctionResult {
	content := []byte(nil)
	if r.Text != nil {
		content = []byte(*r.Text)
	} else if decoded, err := base64.StdEncoding.DecodeString(r.Base64); err == nil {
		content = decoded
	}
	switch name {
	case "text":
		return returns(values.text(string(content)))
	case "bytes":
		return returns(values.bytes(content))
	case "json":
		at, err := values.json([]byte(strings.TrimPrefix(string(content), "\ufeff")))
		if err != nil {
			return raises("ValueError", "the response is not JSON: "+err.Error())
		}
		return returns(at)
	}
	return raises("AttributeError", "'Response' object has no attribute '"+name+"'")
}
