package seccomp

// ProgramPath is the address that the path of a program must have for Alone to let it be executed. It is in low memory
// that no 64-bit program uses.
const ProgramPath = lowMemory / 2

// lowMemory is the end of the memory that Alone forbids mapping. It is a power of two, so one mask detects a lower
// address.
const lowMemory = 2 << 20

const (
	lowMask   = whole &^ (lowMemory - 1)
	growsDown = 0x100  // MAP_GROWSDOWN
	fixed     = 2      // MREMAP_FIXED
	mapVDSO   = 0x2000 // ARCH_MAP_VDSO_X32, …_32 and …_64 are this and 1 to 3
)

// Alone returns the policy for a foreign program that may start no others: it may have threads, but no children. A
// filter cannot count, and one call must execute the program itself. The filter recognises that call by the address of
// its path. The new program has no memory at that address and can map none: the filter refuses every mapping at a
// chosen address there.
func Alone() Policy {
	refuse := Errno(ePERM)
	policy := Program().Refuse("fork", "vfork", "execveat", "map_shadow_stack")
	policy.Rules["clone"] = Rule{Checks: []Check{{Arg: 0, Mask: namespaceBits | threadBit, Value: threadBit, Action: Allow}}, Otherwise: refuse}
	policy.Rules["execve"] = Rule{Checks: []Check{{Arg: 0, Mask: whole, Value: ProgramPath, Action: Allow, Wide: true}}, Otherwise: refuse}
	policy.Rules["mmap"] = Rule{
		Checks: []Check{
			{Arg: 3, Mask: growsDown, Value: growsDown, Action: refuse},
			{Arg: 0, Mask: whole, Value: 0, Action: Allow, Wide: true}, // any address
			{Arg: 0, Mask: lowMask, Value: 0, Action: refuse, Wide: true},
		},
		Otherwise: Allow,
	}
	policy.Rules["mremap"] = Rule{
		Checks: []Check{
			{Arg: 3, Mask: fixed, Value: 0, Action: Allow}, // any address
			{Arg: 4, Mask: lowMask, Value: 0, Action: refuse, Wide: true},
		},
		Otherwise: Allow,
	}
	policy.Rules["arch_prctl"] = Rule{Checks: []Check{{Arg: 0, Mask: whole &^ 3, Value: mapVDSO, Action: refuse}}, Otherwise: Allow}
	return policy
}
