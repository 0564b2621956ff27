#include "textflag.h"

// func child(flags uintptr, handle *int32, first *call, says *failure) int
//
// The child has our memory and a stack pointer that is ours: it uses registers only. R12 is the call, R13 the first one,
// R14 the failure; the kernel leaves them alone.
TEXT ·child(SB), NOSPLIT|NOFRAME, $0-40
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

next:
	MOVQ 0(R12), AX
	MOVQ 8(R12), DI
	MOVQ 16(R12), SI
	MOVQ 24(R12), DX
	MOVQ 32(R12), R10
	MOVQ 40(R12), R8
	MOVQ 48(R12), R9
	SYSCALL
	CMPQ AX, 64(R12)
	JLT  failed
	ADDQ $72, R12
	JMP  next

failed:
	MOVQ AX, 16(R14)
	MOVQ R12, BX
	SUBQ R13, BX
	MOVQ BX, 8(R14)
	MOVQ 56(R12), DI
	MOVQ R14, SI
	MOVL $24, DX
	MOVL $1, AX            // write
	SYSCALL

leave:
	MOVL $125, DI
	MOVL $231, AX          // exit_group
	SYSCALL
	JMP  leave
