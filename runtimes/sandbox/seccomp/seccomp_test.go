package seccomp_test

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

const (
	auditAMD64 = 0xc000003e
	auditARM64 = 0xc00000b7
	auditI386  = 0x40000003
)

// call is a system call as a filter sees it.
type call struct {
	audit  uint32
	number uint32
	args   [6]uint64
}

// run returns the result of a policy's filter for one call.
func run(t *testing.T, policy seccomp.Policy, arch seccomp.Arch, c call) seccomp.Action {
	t.Helper()
	return machine(t, policy, arch)(c)
}

// machine returns a function that executes a policy's filter. It encodes calls in big-endian order, because the BPF
// interpreter of the tests reads words in network byte order.
func machine(t *testing.T, policy seccomp.Policy, arch seccomp.Arch) func(call) seccomp.Action {
	t.Helper()
	code, err := seccomp.Assemble(policy, arch)
	if err != nil {
		t.Fatal(err)
	}
	vm, err := bpf.NewVM(code)
	if err != nil {
		t.Fatal(err)
	}
	return func(c call) seccomp.Action {
		t.Helper()
		data := make([]byte, 64)
		binary.BigEndian.PutUint32(data[0:], c.number)
		binary.BigEndian.PutUint32(data[4:], c.audit)
		for i, arg := range c.args {
			binary.BigEndian.PutUint32(data[16+8*i:], uint32(arg))
			binary.BigEndian.PutUint32(data[20+8*i:], uint32(arg>>32))
		}
		action, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		return seccomp.Action(action)
	}
}

func args(list ...uint64) (all [6]uint64) {
	copy(all[:], list)
	return all
}

func TestProgram(t *testing.T) {
	t.Parallel()
	perm, nosys := seccomp.Errno(1), seccomp.Errno(38)
	const garbage = 0xdeadbeef00000000
	tests := map[string]struct {
		arch seccomp.Arch
		call call
		want seccomp.Action
	}{
		"read":                       {seccomp.AMD64, call{auditAMD64, 0, args()}, seccomp.Allow},
		"read on arm":                {seccomp.ARM64, call{auditARM64, 63, args()}, seccomp.Allow},
		"write, last bit of a range": {seccomp.AMD64, call{auditAMD64, 1, args()}, seccomp.Allow},
		"32-bit call":                {seccomp.AMD64, call{auditI386, 3, args()}, seccomp.Kill},
		"32-bit call on arm":         {seccomp.ARM64, call{0x40000028, 3, args()}, seccomp.Kill},
		"x32 call":                   {seccomp.AMD64, call{auditAMD64, 0x40000000, args()}, seccomp.Kill},
		"x32 ptrace":                 {seccomp.AMD64, call{auditAMD64, 0x40000000 + 521, args()}, seccomp.Kill},
		"highest number":             {seccomp.AMD64, call{auditAMD64, 0xffffffff, args()}, seccomp.Kill},
		"call of a later kernel":     {seccomp.AMD64, call{auditAMD64, 9999, args()}, nosys},
		"hole in the table":          {seccomp.AMD64, call{auditAMD64, 400, args()}, nosys},
		"ptrace":                     {seccomp.AMD64, call{auditAMD64, 101, args()}, perm},
		"ptrace on arm":              {seccomp.ARM64, call{auditARM64, 117, args()}, perm},
		"mount":                      {seccomp.AMD64, call{auditAMD64, 165, args()}, perm},
		"io_uring_setup":             {seccomp.AMD64, call{auditAMD64, 425, args()}, perm},
		"keyctl":                     {seccomp.AMD64, call{auditAMD64, 250, args()}, perm},
		"setns":                      {seccomp.AMD64, call{auditAMD64, 308, args()}, perm},
		"unshare":                    {seccomp.AMD64, call{auditAMD64, 272, args()}, perm},
		"process_vm_readv":           {seccomp.AMD64, call{auditAMD64, 310, args()}, perm},
		"pidfd_getfd":                {seccomp.AMD64, call{auditAMD64, 438, args()}, perm},
		"bpf":                        {seccomp.AMD64, call{auditAMD64, 321, args()}, perm},
		"sync does nothing":          {seccomp.AMD64, call{auditAMD64, 162, args()}, seccomp.Errno(0)},

		"fork":                      {seccomp.AMD64, call{auditAMD64, 56, args(17)}, seccomp.Allow},
		"thread":                    {seccomp.AMD64, call{auditAMD64, 56, args(0x3d0f00)}, seccomp.Allow},
		"thread, garbage above":     {seccomp.AMD64, call{auditAMD64, 56, args(garbage | 0x3d0f00)}, seccomp.Allow},
		"new user namespace":        {seccomp.AMD64, call{auditAMD64, 56, args(0x10000000 | 17)}, perm},
		"the same, garbage above":   {seccomp.AMD64, call{auditAMD64, 56, args(garbage | 0x10000000)}, perm},
		"new mount namespace":       {seccomp.AMD64, call{auditAMD64, 56, args(0x00020000)}, perm},
		"new cgroup namespace":      {seccomp.AMD64, call{auditAMD64, 56, args(0x02000000)}, perm},
		"clone3":                    {seccomp.AMD64, call{auditAMD64, 435, args()}, nosys},
		"AF_UNIX socket":            {seccomp.AMD64, call{auditAMD64, 41, args(1, 1)}, seccomp.Errno(13)},
		"AF_UNIX, garbage above":    {seccomp.AMD64, call{auditAMD64, 41, args(garbage|1, 1)}, seccomp.Errno(13)},
		"AF_INET socket":            {seccomp.AMD64, call{auditAMD64, 41, args(2, 1)}, seccomp.Allow},
		"AF_INET6 socket":           {seccomp.AMD64, call{auditAMD64, 41, args(10, 1)}, seccomp.Allow},
		"AF_NETLINK socket":         {seccomp.AMD64, call{auditAMD64, 41, args(16, 3)}, seccomp.Errno(97)},
		"AF_VSOCK socket":           {seccomp.AMD64, call{auditAMD64, 41, args(40, 1)}, seccomp.Errno(97)},
		"AF_ALG socket":             {seccomp.AMD64, call{auditAMD64, 41, args(38, 5)}, seccomp.Errno(97)},
		"AF_PACKET socket":          {seccomp.AMD64, call{auditAMD64, 41, args(17, 3)}, seccomp.Errno(97)},
		"AF_UNIX socketpair":        {seccomp.AMD64, call{auditAMD64, 53, args(1, 1)}, seccomp.Allow},
		"SEQPACKET socketpair":      {seccomp.AMD64, call{auditAMD64, 53, args(1, 5|0x80000)}, seccomp.Allow},
		"DGRAM socketpair":          {seccomp.AMD64, call{auditAMD64, 53, args(1, 2)}, perm},
		"DGRAM socketpair, flags":   {seccomp.AMD64, call{auditAMD64, 53, args(1, 2|0x80800)}, perm},
		"RAW socketpair, a DGRAM":   {seccomp.AMD64, call{auditAMD64, 53, args(1, 3)}, perm},
		"AF_TIPC socketpair":        {seccomp.AMD64, call{auditAMD64, 53, args(30, 1)}, seccomp.Errno(97)},
		"isatty":                    {seccomp.AMD64, call{auditAMD64, 16, args(0, 0x5401)}, seccomp.Allow},
		"TIOCSTI":                   {seccomp.AMD64, call{auditAMD64, 16, args(0, 0x5412)}, perm},
		"TIOCSTI, garbage above":    {seccomp.AMD64, call{auditAMD64, 16, args(0, 0x100005412)}, perm},
		"TIOCLINUX":                 {seccomp.AMD64, call{auditAMD64, 16, args(0, 0x541c)}, perm},
		"TIOCSETD":                  {seccomp.AMD64, call{auditAMD64, 16, args(0, 0x5423)}, perm},
		"F_GETFL":                   {seccomp.AMD64, call{auditAMD64, 72, args(0, 3)}, seccomp.Allow},
		"F_SETLEASE":                {seccomp.AMD64, call{auditAMD64, 72, args(0, 1024)}, perm},
		"F_NOTIFY":                  {seccomp.AMD64, call{auditAMD64, 72, args(0, 1026)}, perm},
		"personality, asked":        {seccomp.AMD64, call{auditAMD64, 135, args(0xffffffff)}, seccomp.Allow},
		"personality, no random":    {seccomp.AMD64, call{auditAMD64, 135, args(0x0040000)}, perm},
		"own limits":                {seccomp.AMD64, call{auditAMD64, 302, args(0, 7)}, seccomp.Allow},
		"core limit, asked":         {seccomp.AMD64, call{auditAMD64, 302, args(0, 4, 0, 0x7fff00000000)}, seccomp.Allow},
		"core limit, set":           {seccomp.AMD64, call{auditAMD64, 302, args(0, 4, 0x7fff00001000)}, perm},
		"core limit, from 4 GiB":    {seccomp.AMD64, call{auditAMD64, 302, args(0, 4, 0x100000000)}, perm},
		"core limit, garbage above": {seccomp.AMD64, call{auditAMD64, 302, args(0, garbage|4, 0x1000)}, perm},
		"core limit by setrlimit":   {seccomp.AMD64, call{auditAMD64, 160, args(4, 0x1000)}, perm},
		"core limit on arm":         {seccomp.ARM64, call{auditARM64, 261, args(0, 4, 0x1000)}, perm},
		"other limit by setrlimit":  {seccomp.AMD64, call{auditAMD64, 160, args(7, 0x1000)}, seccomp.Allow},
		"fifo":                      {seccomp.AMD64, call{auditAMD64, 259, args(0, 0, 0o010600)}, seccomp.Allow},
		"block device":              {seccomp.AMD64, call{auditAMD64, 259, args(0, 0, 0o060600)}, perm},
		"character device by mknod": {seccomp.AMD64, call{auditAMD64, 133, args(0, 0o020600)}, perm},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := run(t, seccomp.Program(), tt.arch, tt.call); got != tt.want {
				t.Errorf("got %#x, want %#x", got, tt.want)
			}
		})
	}
}

func TestWorker(t *testing.T) {
	t.Parallel()
	perm := seccomp.Errno(1)
	tests := map[string]struct {
		call call
		want seccomp.Action
	}{
		"read":                    {call{auditAMD64, 0, args()}, seccomp.Allow},
		"thread of Go":            {call{auditAMD64, 56, args(0x50f00)}, seccomp.Allow},
		"fork":                    {call{auditAMD64, 56, args(17)}, perm},
		"vfork":                   {call{auditAMD64, 58, args()}, perm},
		"thread in a namespace":   {call{auditAMD64, 56, args(0x10050f00)}, perm},
		"clone3":                  {call{auditAMD64, 435, args()}, seccomp.Errno(38)},
		"open":                    {call{auditAMD64, 2, args()}, perm},
		"openat":                  {call{auditAMD64, 257, args()}, perm},
		"execve":                  {call{auditAMD64, 59, args()}, perm},
		"socket":                  {call{auditAMD64, 41, args(2)}, perm},
		"socketpair":              {call{auditAMD64, 53, args(1)}, perm},
		"kill":                    {call{auditAMD64, 62, args()}, perm},
		"ioctl":                   {call{auditAMD64, 16, args()}, perm},
		"prctl":                   {call{auditAMD64, 157, args()}, perm},
		"data pages":              {call{auditAMD64, 9, args(0, 4096, 3)}, seccomp.Allow},
		"executable pages":        {call{auditAMD64, 9, args(0, 4096, 7)}, perm},
		"pages become executable": {call{auditAMD64, 10, args(0, 4096, 5)}, perm},
		"unknown":                 {call{auditAMD64, 9999, args()}, perm},
		"x32":                     {call{auditAMD64, 0x40000000, args()}, seccomp.Kill},
		"i386":                    {call{auditI386, 3, args()}, seccomp.Kill},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := run(t, seccomp.Worker(), seccomp.AMD64, tt.call); got != tt.want {
				t.Errorf("got %#x, want %#x", got, tt.want)
			}
		})
	}
}

// TestCompiler checks that Compiler differs from Worker only for memory that becomes executable and is not writable.
func TestCompiler(t *testing.T) {
	t.Parallel()
	perm := seccomp.Errno(1)
	for name, tt := range map[string]struct {
		call call
		want seccomp.Action
	}{
		"pages become code":              {call{auditAMD64, 10, args(0, 4096, 5)}, seccomp.Allow},
		"pages become code only":         {call{auditAMD64, 10, args(0, 4096, 4)}, seccomp.Allow},
		"pages become data":              {call{auditAMD64, 10, args(0, 4096, 3)}, seccomp.Allow},
		"code that is written":           {call{auditAMD64, 10, args(0, 4096, 7)}, perm},
		"code from the start":            {call{auditAMD64, 9, args(0, 4096, 5)}, perm},
		"code that is written, at start": {call{auditAMD64, 9, args(0, 4096, 7)}, perm},
		"code under a key":               {call{auditAMD64, 329, args(0, 4096, 5)}, perm},
		"openat":                         {call{auditAMD64, 257, args()}, perm},
		"fork":                           {call{auditAMD64, 56, args(17)}, perm},
		"x32":                            {call{auditAMD64, 0x40000000, args()}, seccomp.Kill},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := run(t, seccomp.Compiler(), seccomp.AMD64, tt.call); got != tt.want {
				t.Errorf("got %#x, want %#x", got, tt.want)
			}
		})
	}
}

// TestEveryNumber checks for every call number that the compiled filter returns the action of the policy.
func TestEveryNumber(t *testing.T) {
	t.Parallel()
	plain := seccomp.Policy{Default: seccomp.Errno(38), Rules: map[string]seccomp.Rule{}}
	allowed := map[uint32]bool{0: true, 1: true, 3: true, 39: true, 231: true, 334: true}
	for _, name := range []string{"read", "write", "close", "getpid", "exit_group", "rseq"} {
		plain.Rules[name] = seccomp.Rule{Otherwise: seccomp.Allow}
	}
	for number := range uint32(600) {
		want := plain.Default
		if allowed[number] {
			want = seccomp.Allow
		}
		if got := run(t, plain, seccomp.AMD64, call{audit: auditAMD64, number: number}); got != want {
			t.Errorf("call %d: got %#x, want %#x", number, got, want)
		}
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	for _, arch := range []seccomp.Arch{seccomp.AMD64, seccomp.ARM64} {
		for name, policy := range map[string]seccomp.Policy{"program": seccomp.Program(), "alone": seccomp.Alone(), "worker": seccomp.Worker(), "compiler": seccomp.Compiler()} {
			raw, err := seccomp.Compile(policy, arch)
			if err != nil {
				t.Fatalf("%s on %s: %v", name, arch, err)
			}
			t.Logf("%s on %s: %d instructions", name, arch, len(raw))
			if len(raw) < 50 || len(raw) >= seccomp.MaxInstructions {
				t.Errorf("%s on %s: %d instructions", name, arch, len(raw))
			}
		}
	}
	misspelt := seccomp.Policy{Rules: map[string]seccomp.Rule{"raed": {Otherwise: seccomp.Allow}}}
	if _, err := seccomp.Compile(misspelt, seccomp.AMD64); err == nil {
		t.Error("a policy with a misspelt name was compiled")
	}
	if _, err := seccomp.Compile(seccomp.Program(), "mips"); err == nil {
		t.Error("a policy was compiled for an unknown architecture")
	}
}
