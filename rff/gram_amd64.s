//go:build amd64 && !noasm

#include "textflag.h"

// Twelve sums in Y0 to Y11: seven loads for twelve fused operations keep both
// multipliers busy.

// SUM adds the four lanes of two sums each and stores the two results.
#define SUM(first, low, second, high, at) \
	VHADDPD second, first, first \
	VEXTRACTF128 $1, first, high \
	VADDPD high, low, low \
	VMOVUPD low, at(DX)

// func products(a, b *float64, stride, vectors int, tile *[12]float64)
TEXT ·products(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ stride+16(FP), R8
	MOVQ vectors+24(FP), CX
	MOVQ tile+32(FP), DX
	LEAQ (SI)(R8*1), R9
	LEAQ (R9)(R8*1), R10
	LEAQ (R10)(R8*1), R11
	LEAQ (DI)(R8*1), R12
	LEAQ (R12)(R8*1), R13
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	VXORPD Y8, Y8, Y8
	VXORPD Y9, Y9, Y9
	VXORPD Y10, Y10, Y10
	VXORPD Y11, Y11, Y11
	XORQ AX, AX

loop:
	VMOVUPD (DI)(AX*1), Y12
	VMOVUPD (R12)(AX*1), Y13
	VMOVUPD (R13)(AX*1), Y14
	VMOVUPD (SI)(AX*1), Y15
	VFMADD231PD Y12, Y15, Y0
	VFMADD231PD Y13, Y15, Y1
	VFMADD231PD Y14, Y15, Y2
	VMOVUPD (R9)(AX*1), Y15
	VFMADD231PD Y12, Y15, Y3
	VFMADD231PD Y13, Y15, Y4
	VFMADD231PD Y14, Y15, Y5
	VMOVUPD (R10)(AX*1), Y15
	VFMADD231PD Y12, Y15, Y6
	VFMADD231PD Y13, Y15, Y7
	VFMADD231PD Y14, Y15, Y8
	VMOVUPD (R11)(AX*1), Y15
	VFMADD231PD Y12, Y15, Y9
	VFMADD231PD Y13, Y15, Y10
	VFMADD231PD Y14, Y15, Y11
	ADDQ $32, AX
	DECQ CX
	JNZ  loop

	SUM(Y0, X0, Y1, X1, 0)
	SUM(Y2, X2, Y3, X3, 16)
	SUM(Y4, X4, Y5, X5, 32)
	SUM(Y6, X6, Y7, X7, 48)
	SUM(Y8, X8, Y9, X9, 64)
	SUM(Y10, X10, Y11, X11, 80)
	VZEROUPPER
	RET
