#include "textflag.h"

// PAIR leaves in E the bytes where x|ma is a and y|mb is b, for 16 places.
#define PAIR(off, E, T) \
	MOVOU off(SI)(AX*1), E \
	MOVOU off(DI)(AX*1), T \
	POR X2, E \
	POR X3, T \
	PCMPEQB X0, E \
	PCMPEQB X1, T \
	PAND T, E

// func findPair(x, y []byte, a, b, ma, mb uint64) int
TEXT ·findPair(SB), NOSPLIT, $0-88
	MOVQ x_base+0(FP), SI
	MOVQ x_len+8(FP), CX
	MOVQ y_base+24(FP), DI
	MOVQ y_len+32(FP), DX
	CMPQ CX, DX
	CMOVQGT DX, CX
	MOVQ a+48(FP), X0
	MOVQ b+56(FP), X1
	MOVQ ma+64(FP), X2
	MOVQ mb+72(FP), X3
	PUNPCKLQDQ X0, X0
	PUNPCKLQDQ X1, X1
	PUNPCKLQDQ X2, X2
	PUNPCKLQDQ X3, X3
	XORQ AX, AX

loop:
	LEAQ 64(AX), DX
	CMPQ DX, CX
	JGT rest
	PAIR(0, X4, X5)
	PAIR(16, X6, X7)
	PAIR(32, X8, X9)
	PAIR(48, X10, X11)
	MOVO X4, X12
	MOVO X8, X13
	POR X6, X12
	POR X10, X13
	POR X13, X12
	PMOVMSKB X12, BX
	TESTL BX, BX
	JNE which
	MOVQ DX, AX
	JMP loop

which:
	PMOVMSKB X4, BX
	TESTL BX, BX
	JNE found
	ADDQ $16, AX
	PMOVMSKB X6, BX
	TESTL BX, BX
	JNE found
	ADDQ $16, AX
	PMOVMSKB X8, BX
	TESTL BX, BX
	JNE found
	ADDQ $16, AX
	PMOVMSKB X10, BX

found:
	BSFL BX, BX
	ADDQ BX, AX
	MOVQ AX, ret+80(FP)
	RET

rest:
	LEAQ 16(AX), DX
	CMPQ DX, CX
	JGT none
	PAIR(0, X4, X5)
	PMOVMSKB X4, BX
	TESTL BX, BX
	JNE found
	MOVQ DX, AX
	JMP rest

none:
	MOVQ $-1, AX
	MOVQ AX, ret+80(FP)
	RET
