// Package seccomp compiles policies for system calls into filter programs for the kernel. It is pure Go, and on any machine
// compiles for both amd64 and arm64. It defines the policies of jails (such as Program and Worker), but installs no filter.
package seccomp

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"

	"golang.org/x/net/bpf"
)

// Action is the return value of a filter. It tells the kernel how to handle a call.
type Action uint32

// Allow permits a call, Kill ends the whole process.
const (
	Allow Action = 0x7fff0000
	Kill  Action = 0x80000000
)

// Errno fails a call with an error number; 0 makes it succeed without effect.
func Errno(number uint16) Action { return 0x00050000 | Action(number) }

// Check tests one argument: if argument & Mask equals Value, the call gets Action. Only the lower 32 bits are compared,
// because the kernel ignores the upper bits of an int, in which the C library leaves garbage.
type Check struct {
	Arg    int
	Mask   uint32
	Value  uint32
	Action Action
	Wide   bool // also compare the upper half of the argument, which must be 0; for pointers
}

// Rule is the rule for one call. The first matching check decides; if none matches, the call gets Otherwise.
type Rule struct {
	Checks    []Check
	Otherwise Action
}

// Policy is the set of rules for all calls of a process. Calls without a rule get Default.
type Policy struct {
	Rules   map[string]Rule
	Default Action
}

// Refuse returns a copy of the policy in which the named calls fail with EPERM.
func (p Policy) Refuse(names ...string) Policy {
	p.Rules = maps.Clone(p.Rules)
	for _, name := range names {
		p.Rules[name] = Rule{Otherwise: Errno(ePERM)}
	}
	return p
}

// KeepBuffers returns a copy of the policy in which setting the buffer size of a socket succeeds without effect. It does
// not fail, because the size is only a hint to the kernel and programs do not expect an error.
func (p Policy) KeepBuffers() Policy {
	// The filter does not check the level, because on other levels these numbers are hints too.
	const optionName, sendBuffer, receiveBuffer = 2, 7, 8
	p.Rules = maps.Clone(p.Rules)
	p.Rules["setsockopt"] = Rule{Checks: []Check{
		{Arg: optionName, Mask: whole, Value: sendBuffer, Action: Errno(0)},
		{Arg: optionName, Mask: whole, Value: receiveBuffer, Action: Errno(0)},
	}, Otherwise: Allow}
	return p
}

// Arch is a machine architecture for which filters are compiled.
type Arch string

// Architectures, with the names that Go uses.
const (
	AMD64 Arch = "amd64"
	ARM64 Arch = "arm64"
)

// MaxInstructions is the kernel's limit of instructions per filter (BPF_MAXINSNS).
const MaxInstructions = 4096

// Offsets in struct seccomp_data. Both machines are little-endian: the lower half of an argument comes first.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

// x32 is the bit in the number of calls through the x32 ABI on amd64. The kernel reports them as calls of amd64, so they
// would bypass a filter that does not test this bit.
const x32 = 0x40000000

func (a Arch) table() (audit uint32, numbers map[string]uint32, err error) {
	switch a {
	case AMD64:
		return 0xc000003e, numbersAMD64(), nil
	case ARM64:
		return 0xc00000b7, numbersARM64(), nil
	default:
		return 0, nil, fmt.Errorf("no system call table for %q", a)
	}
}

// segment is a range of call numbers with the same rule. It starts at first and ends before the next segment.
type segment struct {
	first uint32
	rule  Rule
}

// Compile turns a policy into a filter program. Calls through the ABI of another architecture or x32 kill the process.
func Compile(policy Policy, arch Arch) ([]bpf.RawInstruction, error) {
	code, err := Assemble(policy, arch)
	if err != nil {
		return nil, err
	}
	return bpf.Assemble(code)
}

// Assemble is like Compile but returns decoded instructions, which tests can execute.
func Assemble(policy Policy, arch Arch) ([]bpf.Instruction, error) {
	audit, numbers, err := arch.table()
	if err != nil {
		return nil, err
	}
	segments, err := segmentsOf(policy, numbers)
	if err != nil {
		return nil, err
	}
	code := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: audit, SkipTrue: 1},
		bpf.RetConstant{Val: uint32(Kill)},
		bpf.LoadAbsolute{Off: offsetNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		bpf.RetConstant{Val: uint32(Kill)},
	}
	code = append(code, search(segments)...)
	if len(code) > MaxInstructions {
		return nil, fmt.Errorf("the filter has %d instructions, and the kernel accepts at most %d", len(code), MaxInstructions)
	}
	return code, nil
}

// segmentsOf returns the rules of a policy as segments that cover all call numbers.
func segmentsOf(policy Policy, numbers map[string]uint32) ([]segment, error) {
	rules := map[uint32]Rule{}
	for name, rule := range policy.Rules {
		if number, ok := numbers[name]; ok {
			rules[number] = rule
		} else if !known(name) {
			return nil, fmt.Errorf("no supported architecture has a system call %q", name)
		}
	}
	ordered := make([]uint32, 0, len(rules))
	for number := range rules {
		ordered = append(ordered, number)
	}
	slices.Sort(ordered)

	rest := Rule{Otherwise: policy.Default}
	segments := []segment{{first: 0, rule: rest}}
	add := func(s segment) {
		last := &segments[len(segments)-1]
		switch {
		case last.first == s.first:
			*last = s
		case len(last.rule.Checks)+len(s.rule.Checks) > 0 || last.rule.Otherwise != s.rule.Otherwise:
			segments = append(segments, s)
		}
	}
	for _, number := range ordered {
		add(segment{first: number, rule: rules[number]})
		if number < math.MaxUint32 {
			if _, listed := rules[number+1]; !listed {
				add(segment{first: number + 1, rule: rest})
			}
		}
	}
	return segments, nil
}

// known reports whether any supported architecture has the call. Policies may name calls that only one of them has.
func known(name string) bool {
	_, amd := numbersAMD64()[name]
	_, arm := numbersARM64()[name]
	return amd || arm
}

// search returns code that finds the segment of the call number in the accumulator by binary search. Far jumps are
// unconditional, because conditional jumps reach only 255 instructions.
func search(segments []segment) []bpf.Instruction {
	if len(segments) == 1 {
		return decide(segments[0].rule)
	}
	middle := len(segments) / 2
	lower, upper := search(segments[:middle]), search(segments[middle:])
	code := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: segments[middle].first, SkipFalse: 1},
		bpf.Jump{Skip: uint32(len(lower))},
	}
	return append(append(code, lower...), upper...)
}

func decide(rule Rule) []bpf.Instruction {
	var code []bpf.Instruction
	for _, check := range rule.Checks {
		lower := []bpf.Instruction{bpf.LoadAbsolute{Off: offsetArgs + 8*uint32(check.Arg), Size: 4}}
		if check.Mask != whole {
			lower = append(lower, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: check.Mask})
		}
		lower = append(lower,
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: check.Value, SkipTrue: 1},
			bpf.RetConstant{Val: uint32(check.Action)},
		)
		if check.Wide {
			code = append(code,
				bpf.LoadAbsolute{Off: offsetArgs + 8*uint32(check.Arg) + 4, Size: 4},
				bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: uint8(len(lower))},
			)
		}
		code = append(code, lower...)
	}
	return append(code, bpf.RetConstant{Val: uint32(rule.Otherwise)})
}

// Number returns the number of a call on an architecture, and false if the architecture does not have it.
func (a Arch) Number(name string) (uint32, bool) {
	_, numbers, err := a.table()
	number, ok := numbers[name]
	return number, ok && err == nil
}

// InstructionSize is the size of one instruction in bytes.
const InstructionSize = 8

// Encode compiles a policy for the architecture of this binary and returns it in the kernel's format.
func Encode(policy Policy) ([]byte, error) {
	program, err := Compile(policy, Arch(runtime.GOARCH))
	if err != nil {
		return nil, err
	}
	code := make([]byte, 0, len(program)*InstructionSize)
	for _, in := range program {
		code = append(code, byte(in.Op), byte(in.Op>>8), in.Jt, in.Jf, byte(in.K), byte(in.K>>8), byte(in.K>>16), byte(in.K>>24))
	}
	return code, nil
}
