#include "textflag.h"

// func child(flags uintptr, handle *int32, first *call, says *failure) int
//
// The child has our memory and a stack pointer that is ours: it uses registers only. R19 is the call, R20 the first one,
// R21 the failure; the kernel leaves them alone.
TEXT ·child(SB), NOSPLIT|NOFRAME, $0-40
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

next:
	MOVD 0(R19), R8
	MOVD 8(R19), R0
	MOVD 16(R19), R1
	MOVD 24(R19), R2
	MOVD 32(R19), R3
	MOVD 40(R19), R4
	MOVD 48(R19), R5
	SVC
	MOVD 64(R19), R6
	CMP  R6, R0
	BLT  failed
	ADD  $72, R19
	JMP  next

failed:
	MOVD R0, 16(R21)
	SUB  R20, R19, R6
	MOVD R6, 8(R21)
	MOVD 56(R19), R0
	MOVD R21, R1
	MOVD $24, R2
	MOVD $64, R8           // write
	SVC

leave:
	MOVD $125, R0
	MOVD $94, R8           // exit_group
	SVC
	JMP  leave
