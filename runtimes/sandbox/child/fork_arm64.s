#include "go_asm.h"
#include "textflag.h"

// CALLS makes the calls of a table one after the other, using only registers: R19 is the call, R20 the first call, R21 the
// failure. The kernel preserves these registers. At the end of the table it goes to done.
#define CALLS \
next: \
	MOVD call_trap(R19), R8; \
	TBNZ $63, R8, done; \
	MOVD call_args(R19), R0; \
	MOVD (call_args+8)(R19), R1; \
	MOVD (call_args+16)(R19), R2; \
	MOVD (call_args+24)(R19), R3; \
	MOVD (call_args+32)(R19), R4; \
	MOVD (call_args+40)(R19), R5; \
	SVC; \
	MOVD call_least(R19), R6; \
	CMP  R6, R0; \
	BLT  failed; \
	ADD  $call__size, R19; \
	JMP  next; \
failed: \
	MOVD R0, failure_value(R21); \
	SUB  R20, R19, R6; \
	MOVD R6, failure_at(R21); \
	MOVD call_says(R19), R0; \
	MOVD R21, R1; \
	MOVD $failure__size, R2; \
	MOVD $64, R8; \ // write
	SVC; \
leave: \
	MOVD $125, R0; \
exit: \
	MOVD $94, R8; \ // exit_group
	SVC; \
	JMP  exit

// func startChild(flags uintptr, handle *int32, first *call, says *failure) int
//
// The child shares the memory and the stack pointer of its parent.
TEXT ·startChild(SB), NOSPLIT|NOFRAME, $0-40
	MOVD flags+0(FP), R0
	MOVD $0, R1
	MOVD handle+8(FP), R2
	MOVD $0, R3
	MOVD $0, R4
	MOVD first+16(FP), R20
	MOVD says+24(FP), R21
	MOVD R20, R19
	MOVD $220, R8          // clone
	SVC
	CBZ  R0, next
	MOVD R0, ret+32(FP)
	RET

	CALLS

done:
	JMP  leave

// loop is the loop of a fork server (see loopmemory.go): int64_t loop(struct loopMemory *). It returns in each child. The code
// is position-independent and calls no function. R22 is the loop memory.
TEXT loop<>(SB), NOSPLIT|NOFRAME, $0
	STP.W (R19, R20), -32(RSP)
	STP  (R21, R22), 16(RSP)
	MOVD R0, R22

	MOVD loopMemory_filter(R22), R2
	CBZ  R2, order
	MOVD $1, R0            // SECCOMP_SET_MODE_FILTER
	MOVD $0, R1
	MOVD $277, R8          // seccomp
	SVC
	CBNZ R0, leave         // exit: no child may have only half of its filter

order:
	MOVD loopMemory_space(R22), R6
	MOVD R6, (loopMemory_order+header_controlLen)(R22)
	MOVD loopMemory_control(R22), R0
	ADD  $loopMemory_order, R22, R1
	MOVD $0, R2
	MOVD $212, R8          // recvmsg
	SVC
	CMN  $4, R0            // EINTR
	BEQ  order
	CBZ  R0, exit
	MOVD loopMemory_length(R22), R6
	CMP  R6, R0
	BNE  leave
	MOVD (loopMemory_order+header_flags)(R22), R6
	TBNZ $3, R6, leave     // MSG_CTRUNC
	TBNZ $5, R6, leave     // MSG_TRUNC
	MOVD loopMemory_space(R22), R6
	MOVD (loopMemory_order+header_controlLen)(R22), R7
	CMP  R6, R7
	BNE  leave
	ADD  $loopMemory_came, R22, R1
	ADD  $loopMemory_expected, R22, R2

compare:
	SUB  $8, R6
	MOVD (R1)(R6), R3
	MOVD (R2)(R6), R4
	CMP  R3, R4
	BNE  leave
	CBNZ R6, compare

	MOVD loopMemory_id(R22), R6
	MOVD R6, (loopMemory_reported+forkNotice_id)(R22)
	ADD  $loopMemory_clone, R22, R0
	MOVD $64, R1
	MOVD $435, R8          // clone3
	SVC
	CBZ  R0, born
	MOVD R0, (loopMemory_reported+forkNotice_pid)(R22)
	TBNZ $63, R0, barren
	MOVD loopMemory_control(R22), R0
	ADD  $loopMemory_answer, R22, R1
	MOVD $0x4000, R2       // MSG_NOSIGNAL
	MOVD $211, R8          // sendmsg
	SVC
	JMP  answered

barren:
	MOVD loopMemory_control(R22), R0
	ADD  $loopMemory_reported, R22, R1
	MOVD $forkNotice__size, R2
	MOVD $64, R8           // write
	SVC

answered:
	TBNZ $63, R0, leave    // exit: otherwise the launcher would wait without end
	MOVD loopMemory_first(R22), R0
	MOVD $0xffffffff, R1
	MOVD $0, R2
	MOVD $436, R8          // close_range
	SVC
	JMP  order

born:
	ADD  $loopMemory_calls, R22, R19
	MOVD R19, R20
	ADD  $loopMemory_failure, R22, R21
	CALLS

done:
	LDP  16(RSP), (R21, R22)
	LDP.P 32(RSP), (R19, R20)
	MOVD $0, R0
	RET
	DWORD $0x646e6520706f6f6c // endOfLoop

// func loopText() uintptr
TEXT ·loopText(SB), NOSPLIT, $0-8
	MOVD $loop<>(SB), R0
	MOVD R0, ret+0(FP)
	RET
