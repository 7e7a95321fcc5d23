#include "textflag.h"

// A message is a polynomial, and its CRC the remainder of that times x^32 by
// P. So the bytes in front may be replaced by any that have the same
// remainder. Of 16 bytes, D bits before 16 others, the first 8 are multiplied
// by x^(D+32) mod P and the last 8 by x^(D-32) mod P, and both are added to
// those others. What is left at last goes through the processor's own CRC32.
// As CRC-32C takes the low bit of a byte first, the factors are mirrored, and
// shifted by the one bit by which mirrored products are too low.
//
//	fold2048: 4 registers of 64 bytes side by side, over 256 bytes
//	fold512:  one register over 64 bytes
//	fold128:  16 bytes over 16 bytes
DATA fold2048<>+0(SB)/8, $0x0dcb17aa4
DATA fold2048<>+8(SB)/8, $0x0b9e02b86
GLOBL fold2048<>(SB), RODATA|NOPTR, $16
DATA fold512<>+0(SB)/8, $0x0740eef02
DATA fold512<>+8(SB)/8, $0x09e4addf8
GLOBL fold512<>(SB), RODATA|NOPTR, $16
DATA fold128<>+0(SB)/8, $0x0f20c0dfe
DATA fold128<>+8(SB)/8, $0x14cd00bd6
GLOBL fold128<>(SB), RODATA|NOPTR, $16

// FOLD makes ACC*x^D+NEXT, with the factors in K.
#define FOLD(K, ACC, NEXT, T) \
	VPCLMULQDQ $0x00, K, ACC, T \
	VPCLMULQDQ $0x11, K, ACC, ACC \
	VPTERNLOGQ $0x96, NEXT, T, ACC

// LANE folds X0 into X1.
#define LANE \
	MOVO X0, X2 \
	PCLMULQDQ $0x00, X8, X2 \
	PCLMULQDQ $0x11, X8, X0 \
	PXOR X2, X1 \
	PXOR X1, X0

// func foldBlocks(crc uint32, b []byte) uint32
TEXT ·foldBlocks(SB), NOSPLIT, $0-36
	MOVL crc+0(FP), AX
	MOVQ b_base+8(FP), SI
	MOVQ b_len+16(FP), CX
	VBROADCASTI32X4 fold2048<>(SB), Z8
	VBROADCASTI32X4 fold512<>(SB), Z9
	VMOVDQU64 0(SI), Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	VMOVD AX, X4
	VPXORQ Z4, Z0, Z0
	ADDQ $256, SI
	SUBQ $256, CX

four:
	CMPQ CX, $256
	JLT join
	FOLD(Z8, Z0, 0(SI), Z4)
	FOLD(Z8, Z1, 64(SI), Z5)
	FOLD(Z8, Z2, 128(SI), Z6)
	FOLD(Z8, Z3, 192(SI), Z7)
	ADDQ $256, SI
	SUBQ $256, CX
	JMP four

join:
	FOLD(Z9, Z0, Z1, Z4)
	FOLD(Z9, Z0, Z2, Z4)
	FOLD(Z9, Z0, Z3, Z4)

one:
	CMPQ CX, $64
	JLT lanes
	FOLD(Z9, Z0, 0(SI), Z4)
	ADDQ $64, SI
	SUBQ $64, CX
	JMP one

lanes:
	VEXTRACTI32X4 $1, Z0, X3
	VEXTRACTI32X4 $2, Z0, X4
	VEXTRACTI32X4 $3, Z0, X5
	VZEROUPPER
	MOVOU fold128<>(SB), X8
	MOVO X3, X1
	LANE
	MOVO X4, X1
	LANE
	MOVO X5, X1
	LANE
	MOVQ X0, DX
	PSRLDQ $8, X0
	MOVQ X0, BX
	XORL AX, AX
	CRC32Q DX, AX
	CRC32Q BX, AX
	MOVL AX, ret+32(FP)
	RET
