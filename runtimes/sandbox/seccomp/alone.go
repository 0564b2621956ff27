package seccomp

// ProgramPath is the only address of a path argument with which Alone allows execve. It is in low memory that 64-bit
// programs do not use.
const ProgramPath = lowMemory / 2

// lowMemory is the end of the address range that Alone forbids mapping. It is a power of two, so a single mask check finds
// the addresses below it.
const lowMemory = 2 << 20

const (
	lowMask   = whole &^ (lowMemory - 1)
	growsDown = 0x100  // MAP_GROWSDOWN
	fixed     = 2      // MREMAP_FIXED
	mapVDSO   = 0x2000 // ARCH_MAP_VDSO_X32, …_32 and …_64 are mapVDSO plus 1, 2 and 3
)

// Alone returns the policy for a foreign program that may start no other program. It may have threads, but no children.
// The filter must allow the one execve that executes the program itself, but a filter cannot count calls. So it allows
// execve only with a path at ProgramPath. The executed program has no memory at that address and cannot map any,
// because the filter refuses mappings at low addresses that the caller chooses.
func Alone() Policy {
	refuse := Errno(ePERM)
	policy := Program().Refuse("fork", "vfork", "execveat", "map_shadow_stack")
	policy.Rules["clone"] = Rule{Checks: []Check{{Arg: 0, Mask: namespaceBits | threadBit, Value: threadBit, Action: Allow}}, Otherwise: refuse}
	policy.Rules["execve"] = Rule{Checks: []Check{{Arg: 0, Mask: whole, Value: ProgramPath, Action: Allow, Wide: true}}, Otherwise: refuse}
	policy.Rules["mmap"] = Rule{
		Checks: []Check{
			{Arg: 3, Mask: growsDown, Value: growsDown, Action: refuse},
			{Arg: 0, Mask: whole, Value: 0, Action: Allow, Wide: true}, // address 0 lets the kernel choose the address
			{Arg: 0, Mask: lowMask, Value: 0, Action: refuse, Wide: true},
		},
		Otherwise: Allow,
	}
	policy.Rules["mremap"] = Rule{
		Checks: []Check{
			{Arg: 3, Mask: fixed, Value: 0, Action: Allow}, // without MREMAP_FIXED the kernel chooses the address
			{Arg: 4, Mask: lowMask, Value: 0, Action: refuse, Wide: true},
		},
		Otherwise: Allow,
	}
	policy.Rules["arch_prctl"] = Rule{Checks: []Check{{Arg: 0, Mask: whole &^ 3, Value: mapVDSO, Action: refuse}}, Otherwise: Allow}
	return policy
}
