package seccomp

// ProgramPath is the address at which the path of a program has to be for Alone to let it be executed. It is in the low
// memory that no program of 64 bits uses.
const ProgramPath = lowMemory / 2

// lowMemory ends what Alone lets nobody map: a power of two, so that one mask finds an address below it.
const lowMemory = 2 << 20

const (
	lowMask   = whole &^ (lowMemory - 1)
	growsDown = 0x100  // MAP_GROWSDOWN
	fixed     = 2      // MREMAP_FIXED
	mapVDSO   = 0x2000 // ARCH_MAP_VDSO_X32, …_32 and …_64 are this and 1 to 3
)

// Alone is the policy for a foreign program that may start no others: it has threads, and no children. A filter cannot
// count, and somebody has to execute the program. That one call is told by the address of its path: where the new program
// has no memory, and can get none. What maps memory at an address of one's choice is refused there.
func Alone() Policy {
	refuse := Errno(ePERM)
	policy := Program().Refuse("fork", "vfork", "execveat", "map_shadow_stack")
	policy.Rules["clone"] = Rule{Checks: []Check{{Arg: 0, Mask: namespaceBits | threadBit, Value: threadBit, Action: Allow}}, Otherwise: refuse}
	policy.Rules["execve"] = Rule{Checks: []Check{{Arg: 0, Mask: whole, Value: ProgramPath, Action: Allow, Wide: true}}, Otherwise: refuse}
	policy.Rules["mmap"] = Rule{
		Checks: []Check{
			{Arg: 3, Mask: growsDown, Value: growsDown, Action: refuse},
			{Arg: 0, Mask: whole, Value: 0, Action: Allow, Wide: true}, // anywhere
			{Arg: 0, Mask: lowMask, Value: 0, Action: refuse, Wide: true},
		},
		Otherwise: Allow,
	}
	policy.Rules["mremap"] = Rule{
		Checks: []Check{
			{Arg: 3, Mask: fixed, Value: 0, Action: Allow}, // anywhere
			{Arg: 4, Mask: lowMask, Value: 0, Action: refuse, Wide: true},
		},
		Otherwise: Allow,
	}
	policy.Rules["arch_prctl"] = Rule{Checks: []Check{{Arg: 0, Mask: whole &^ 3, Value: mapVDSO, Action: refuse}}, Otherwise: Allow}
	return policy
}
