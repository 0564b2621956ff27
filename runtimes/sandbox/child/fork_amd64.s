#include "go_asm.h"
#include "textflag.h"

// CALLS makes the calls of a table one after the other, using only registers: R12 is the call, R13 the first call, R14 the
// failure. The kernel preserves these registers. At the end of the table it goes to done.
#define CALLS \
next: \
	MOVQ call_trap(R12), AX; \
	TESTQ AX, AX; \
	JLT  done; \
	MOVQ call_args(R12), DI; \
	MOVQ (call_args+8)(R12), SI; \
	MOVQ (call_args+16)(R12), DX; \
	MOVQ (call_args+24)(R12), R10; \
	MOVQ (call_args+32)(R12), R8; \
	MOVQ (call_args+40)(R12), R9; \
	SYSCALL; \
	CMPQ AX, call_least(R12); \
	JLT  failed; \
	ADDQ $call__size, R12; \
	JMP  next; \
failed: \
	MOVQ AX, failure_value(R14); \
	MOVQ R12, BX; \
	SUBQ R13, BX; \
	MOVQ BX, failure_at(R14); \
	MOVQ call_says(R12), DI; \
	MOVQ R14, SI; \
	MOVL $failure__size, DX; \
	MOVL $1, AX; \ // write
	SYSCALL; \
leave: \
	MOVL $125, DI; \
exit: \
	MOVL $231, AX; \ // exit_group
	SYSCALL; \
	JMP  exit

// func startChild(flags uintptr, handle *int32, first *call, says *failure) int
//
// The child shares the memory and the stack pointer of its parent.
TEXT ·startChild(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ flags+0(FP), DI
	MOVQ handle+8(FP), DX
	MOVQ first+16(FP), R13
	MOVQ says+24(FP), R14
	MOVQ R13, R12
	XORL SI, SI
	XORL R10, R10
	XORL R8, R8
	MOVL $56, AX           // clone
	SYSCALL
	TESTQ AX, AX
	JEQ  next
	MOVQ AX, ret+32(FP)
	RET

	CALLS

done:
	JMP  leave

// loop is the loop of a fork server (see loopmemory.go): int64_t loop(struct loopMemory *). It returns in each child. The code
// is position-independent and calls no function. BX is the loop memory.
TEXT loop<>(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BX
	PUSHQ R12
	PUSHQ R13
	PUSHQ R14
	MOVQ DI, BX

	MOVQ loopMemory_filter(BX), DX
	TESTQ DX, DX
	JEQ  order
	MOVL $1, DI            // SECCOMP_SET_MODE_FILTER
	XORL SI, SI
	MOVL $317, AX          // seccomp
	SYSCALL
	TESTQ AX, AX
	JNE  leave             // exit: no child may have only half of its filter

order:
	MOVQ loopMemory_space(BX), AX
	MOVQ AX, (loopMemory_order+header_controlLen)(BX)
	MOVQ loopMemory_control(BX), DI
	LEAQ loopMemory_order(BX), SI
	XORL DX, DX
	MOVL $47, AX           // recvmsg
	SYSCALL
	CMPQ AX, $-4           // EINTR
	JEQ  order
	TESTQ AX, AX
	JEQ  gone
	CMPQ AX, loopMemory_length(BX)
	JNE  leave
	TESTL $0x28, (loopMemory_order+header_flags)(BX) // MSG_TRUNC, MSG_CTRUNC
	JNE  leave
	MOVQ loopMemory_space(BX), CX
	CMPQ CX, (loopMemory_order+header_controlLen)(BX)
	JNE  leave

compare:
	SUBQ $8, CX
	MOVQ loopMemory_came(BX)(CX*1), AX
	CMPQ AX, loopMemory_expected(BX)(CX*1)
	JNE  leave
	TESTQ CX, CX
	JNE  compare

	MOVQ loopMemory_id(BX), AX
	MOVQ AX, (loopMemory_reported+forkNotice_id)(BX)
	LEAQ loopMemory_clone(BX), DI
	MOVL $64, SI
	MOVL $435, AX          // clone3
	SYSCALL
	TESTQ AX, AX
	JEQ  born
	MOVQ AX, (loopMemory_reported+forkNotice_pid)(BX)
	JLT  barren
	MOVQ loopMemory_control(BX), DI
	LEAQ loopMemory_answer(BX), SI
	MOVL $0x4000, DX       // MSG_NOSIGNAL
	MOVL $46, AX           // sendmsg
	SYSCALL
	JMP  answered

barren:
	MOVQ loopMemory_control(BX), DI
	LEAQ loopMemory_reported(BX), SI
	MOVL $forkNotice__size, DX
	MOVL $1, AX            // write
	SYSCALL

answered:
	TESTQ AX, AX
	JLT  leave             // exit: otherwise the launcher would wait without end
	MOVQ loopMemory_first(BX), DI
	MOVL $0xffffffff, SI
	XORL DX, DX
	MOVL $436, AX          // close_range
	SYSCALL
	JMP  order

gone:
	XORL DI, DI
	JMP  exit

born:
	LEAQ loopMemory_calls(BX), R12
	MOVQ R12, R13
	LEAQ loopMemory_failure(BX), R14
	CALLS

done:
	POPQ R14
	POPQ R13
	POPQ R12
	POPQ BX
	XORL AX, AX
	RET
	QUAD $0x646e6520706f6f6c // endOfLoop

// func loopText() uintptr
TEXT ·loopText(SB), NOSPLIT, $0-8
	LEAQ loop<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
