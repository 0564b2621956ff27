package guest

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/atelier-run/atelier/runtimes"
	pb "github.com/atelier-run/atelier/runtimes/monty/montypb"
)

// protocol is the version of the interpreter's protocol.
const protocol = 6

// maxMessage is the maximum size of a message from the interpreter, in bytes.
const maxMessage = 64 << 20

// Maximum sizes of the text and the stack trace of an exception, in bytes.
const (
	maxErrorText  = 16 << 10
	maxErrorStack = 64 << 10
)

// unsupported is the start of the interpreter's error message for Python syntax that the interpreter does not support.
// This error occurs before any code runs.
const unsupported = "The monty syntax parser does not yet support"

// session runs one program in an interpreter.
type session struct {
	job            Job
	in             io.Writer
	out            *bufio.Reader
	stdout, stderr io.Writer
	host           *channel
	responses      []*response         // results of fetch, by the last byte of their object IDs
	denied         *runtimes.CallError // last denied call, nil if no call was denied
}

// run executes the program and calls its main. An error means that the interpreter failed.
func (s *session) run() (json.RawMessage, *runtimes.ProgramError, error) {
	if strings.ContainsRune(s.job.Source, 0) {
		return nil, &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "SyntaxError: source code cannot contain null bytes", File: s.job.Entry, Line: 1}, nil
	}
	if s.job.Resume != nil {
		return s.resume()
	}
	if _, failure, err := s.feed(&pb.Feed{Code: s.job.Source}, true); failure != nil || err != nil {
		return nil, failure, err
	}
	main, ok := find(s.job.Source)
	if !ok {
		return nil, &runtimes.ProgramError{
			Type: runtimes.RuntimeError, Message: s.job.Entry + " has no main function.", File: s.job.Entry, Line: 1, Remedy: "Define main(input, ctx), or run(action, args).",
		}, nil
	}
	feed, failure, err := s.call(main)
	if failure != nil || err != nil {
		return nil, failure, err
	}
	done, failure, err := s.feed(feed, false)
	if failure != nil || err != nil {
		return nil, failure, err
	}
	return s.result(done)
}

// result reads the value that main returned and encodes it as JSON.
func (s *session) result(done *pb.Complete) (json.RawMessage, *runtimes.ProgramError, error) {
	e := &encoder{nodes: done.GetValues().GetNodes(), largest: int(s.job.Largest)}
	err := e.write(done.GetValue(), "output", 0)
	if err == nil && e.out.Len() > e.largest {
		err = errTooLarge
	}
	var bad *flaw
	switch {
	case errors.Is(err, errTooLarge):
		return nil, &runtimes.ProgramError{Type: runtimes.OutputLimit}, nil
	case errors.As(err, &bad):
		return nil, &runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: bad.message, Remedy: bad.remedy}, nil
	}
	return e.out.Bytes(), nil, err
}

// configure sends the limits to the interpreter. It allows long sleeps, because the server enforces the time limit.
func (s *session) configure() error {
	memory, depth, pause, sleep := uint64(s.job.Memory), uint64(s.job.Recursion), uint32(0), uint64(24*3600*1e6)
	event, err := s.ask(&pb.ParentRequest{Kind: &pb.ParentRequest_Configure{Configure: &pb.Configure{
		ScriptName: s.job.Entry, ProtocolVersion: protocol, MontyVersion: Version, PrintFlushIntervalMs: &pause,
		Limits:   &pb.ResourceLimits{MaxMemoryBytes: &memory, MaxRecursionDepth: &depth},
		OsPolicy: &pb.OsPolicy{Sleep: &pb.SleepMode{Mode: &pb.SleepMode_System{System: &pb.SystemSleep{MaxMicros: &sleep}}}},
	}}})
	if err != nil {
		return err
	}
	if event.GetOk() == nil {
		return fmt.Errorf("configure: %s", event)
	}
	return nil
}

// feed runs code to its end and executes the calls that the code makes. isProgram is true for the program itself, and
// false for the code that calls main.
func (s *session) feed(feed *pb.Feed, isProgram bool) (*pb.Complete, *runtimes.ProgramError, error) {
	return s.proceed(&pb.ParentRequest{Kind: &pb.ParentRequest_Feed{Feed: feed}}, isProgram)
}

// proceed sends a request and executes calls until the code ends.
func (s *session) proceed(request *pb.ParentRequest, isProgram bool) (*pb.Complete, *runtimes.ProgramError, error) {
	for {
		event, err := s.ask(request)
		if err != nil {
			return nil, nil, err
		}
		switch kind := event.GetKind().(type) {
		case *pb.ChildEvent_Complete:
			return kind.Complete, nil, nil
		case *pb.ChildEvent_Error:
			return nil, s.failure(kind.Error.GetException(), isProgram), nil
		default:
			if request, err = s.answer(event); err != nil {
				return nil, nil, err
			}
		}
	}
}

// ask sends a request and returns the first event that needs a reply or ends the code. Before that event it prints all
// output events.
func (s *session) ask(request *pb.ParentRequest) (*pb.ChildEvent, error) {
	text, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	frame := append(binary.LittleEndian.AppendUint32(make([]byte, 0, len(text)+4), uint32(len(text))), text...)
	if _, err := s.in.Write(frame); err != nil {
		return nil, err
	}
	for {
		event, err := s.read()
		if err != nil {
			return nil, err
		}
		switch kind := event.GetKind().(type) {
		case *pb.ChildEvent_Print:
			for _, part := range kind.Print.GetSegments() {
				to := s.stdout
				if part.GetStream() == pb.PrintStream_PRINT_STREAM_STDERR {
					to = s.stderr
				}
				if _, err := io.WriteString(to, part.GetText()); err != nil {
					return nil, err
				}
			}
		case *pb.ChildEvent_FatalError:
			return nil, fmt.Errorf("monty: %s", kind.FatalError.GetMessage())
		default:
			return event, nil
		}
	}
}

func (s *session) read() (*pb.ChildEvent, error) {
	var header [4]byte
	if _, err := io.ReadFull(s.out, header[:]); err != nil {
		return nil, fmt.Errorf("monty ended: %w", err)
	}
	size := binary.LittleEndian.Uint32(header[:])
	if size > maxMessage {
		return nil, fmt.Errorf("monty sent a message of %d bytes", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(s.out, text); err != nil {
		return nil, fmt.Errorf("monty ended: %w", err)
	}
	event := &pb.ChildEvent{}
	return event, proto.Unmarshal(text, event)
}

// failure describes an exception with its position in the user's source. It leaves out the stack frames of the code that
// calls main.
func (s *session) failure(e *pb.RaisedException, isProgram bool) *runtimes.ProgramError {
	failure := &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: e.GetExcType()}
	if e.GetMessage() != "" {
		failure.Message += ": " + e.GetMessage()
	}
	failure.Message = cut(failure.Message, maxErrorText)
	frames := slices.DeleteFunc(slices.Clone(e.GetTraceback()), func(f *pb.StackFrame) bool { return !s.ours(f.GetFilename()) })
	var stack strings.Builder
	for _, f := range frames {
		where := "<module>"
		if f.FrameName != nil {
			where = f.GetFrameName()
		}
		fmt.Fprintf(&stack, "  File %q, line %d, in %s\n", s.job.Entry, f.GetStart().GetLine(), where)
		if f.PreviewLine != nil {
			stack.WriteString("    " + strings.TrimSpace(f.GetPreviewLine()) + "\n")
		}
	}
	if n := len(frames); n > 0 {
		// Monty reports an error at the end of the file on an additional line.
		failure.File, failure.Line, failure.Column = s.job.Entry, int(frames[n-1].GetStart().GetLine()), int(frames[n-1].GetStart().GetColumn())
		if last := strings.Count(strings.TrimRight(s.job.Source, "\n"), "\n") + 1; failure.Line > last {
			failure.Line, failure.Column = last, 0
		}
		failure.Stack = "Traceback (most recent call last):\n" + cut(stack.String(), maxErrorStack) + failure.Message + "\n"
	}
	parsed := isProgram && len(frames) == 1 && frames[0].GetHideFrameName()
	switch {
	case isProgram && e.GetExcType() == "NotImplementedError" && strings.HasPrefix(e.GetMessage(), unsupported):
		failure.Type, failure.Stack, failure.Remedy = runtimes.SyntaxError, "", "Monty runs a subset of Python. Use the runtime python for this program."
	case parsed:
		failure.Type, failure.Stack = runtimes.SyntaxError, ""
	case e.GetExcType() == "MemoryError":
		failure.Type = runtimes.MemoryLimit
	case e.GetExcType() == "RecursionError":
		failure.Type = runtimes.RecursionLimit
	case e.GetExcType() == "ModuleNotFoundError":
		failure.Remedy = "Monty supports only a few modules of the standard library, and no packages. Use the runtime python for this program."
	case s.denied != nil && e.GetMessage() == s.denied.Message:
		failure.Type, failure.Rule, failure.Remedy, failure.Grant = runtimes.Denied, s.denied.Rule, s.denied.Remedy, s.denied.Grant
	}
	return failure
}

// cut shortens a text to at most most bytes. It removes the middle.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + "\n…\n" + strings.ToValidUTF8(text[len(text)-most/2:], "")
}

// ours reports whether a stack frame is in the program's file.
func (s *session) ours(file string) bool { return file == s.job.Entry || file == "<python-input-0>" }
