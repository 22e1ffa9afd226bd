//go:build arm64 && !noasm

#include "textflag.h"

// Go's assembler has of the vector instructions on floats only VFMLA and VFMLS. These are further
// ones for two float64, by their encodings in the Arm Architecture Reference Manual (Advanced SIMD
// three same, two-register miscellaneous), with the numbers of the registers.
#define FRINTN(N, D)  WORD $(0x4E618800 | N<<5 | D)         // D = N rounded to nearest, ties to even
#define FABD(M, N, D) WORD $(0x6EE0D400 | M<<16 | N<<5 | D) // D = |N - M|
#define FSUB(M, N, D) WORD $(0x4EE0D400 | M<<16 | N<<5 | D) // D = N - M
#define FADD(M, N, D) WORD $(0x4E60D400 | M<<16 | N<<5 | D) // D = N + M
#define FMUL(M, N, D) WORD $(0x6E60DC00 | M<<16 | N<<5 | D) // D = N * M

// V12 = 1/4, V13 to V20 = p0 to p7, in both lanes. All functions keep them.
#define CONSTANTS \
	FMOVD $0.25, F12 \
	VDUP V12.D[0], V12.D2 \
	FMOVD $6.283185307179581, F13 \
	VDUP V13.D[0], V13.D2 \
	FMOVD $-41.34170224039515, F14 \
	VDUP V14.D[0], V14.D2 \
	FMOVD $81.605249275036, F15 \
	VDUP V15.D[0], V15.D2 \
	FMOVD $-76.70585964812079, F16 \
	VDUP V16.D[0], V16.D2 \
	FMOVD $42.05868832859216, F17 \
	VDUP V17.D[0], V17.D2 \
	FMOVD $-15.094472068952708, F18 \
	VDUP V18.D[0], V18.D2 \
	FMOVD $3.817001984995682, F19 \
	VDUP V19.D[0], V19.D2 \
	FMOVD $-0.6909544365962403, F20 \
	VDUP V20.D[0], V20.D2

// V0 to V3 = the turns of the block at R0, which moves on, with shifts at R1, which moves on too.
// R3 is x, R4 its length.
#define TURNS(LABEL) \
	VLD1.P 64(R1), [V0.D2, V1.D2, V2.D2, V3.D2] \
	MOVD R3, R9 \
	MOVD R4, R10 \
LABEL: \
	VLD1R.P 8(R9), [V21.D2] \
	VLD1.P 64(R0), [V26.D2, V27.D2, V28.D2, V29.D2] \
	VFMLA V21.D2, V26.D2, V0.D2 \
	VFMLA V21.D2, V27.D2, V1.D2 \
	VFMLA V21.D2, V28.D2, V2.D2 \
	VFMLA V21.D2, V29.D2, V3.D2 \
	SUBS $1, R10 \
	BNE LABEL

// V0 to V3 = u = |t - round t| - 1/4 for the turns in A, B, C, D. V4 to V7 are scratch.
#define FOLD(A, B, C, D) \
	FRINTN(A, 4) \
	FRINTN(B, 5) \
	FRINTN(C, 6) \
	FRINTN(D, 7) \
	FABD(4, A, 0) \
	FABD(5, B, 1) \
	FABD(6, C, 2) \
	FABD(7, D, 3) \
	FSUB(12, 0, 0) \
	FSUB(12, 1, 1) \
	FSUB(12, 2, 2) \
	FSUB(12, 3, 3)

// V4 to V7 = u P(u²) for u in V0 to V3, which is minus the cosine. V8 to V11 and V26 to V29 are
// scratch. A step of Horner's rule needs a copy of its coefficient, since VFMLA adds to its result.
#define POLYNOMIAL \
	FMUL(0, 0, 8) \
	FMUL(1, 1, 9) \
	FMUL(2, 2, 10) \
	FMUL(3, 3, 11) \
	VMOV V19.B16, V4.B16 \
	VMOV V19.B16, V5.B16 \
	VMOV V19.B16, V6.B16 \
	VMOV V19.B16, V7.B16 \
	VFMLA V20.D2, V8.D2, V4.D2 \
	VFMLA V20.D2, V9.D2, V5.D2 \
	VFMLA V20.D2, V10.D2, V6.D2 \
	VFMLA V20.D2, V11.D2, V7.D2 \
	VMOV V18.B16, V26.B16 \
	VMOV V18.B16, V27.B16 \
	VMOV V18.B16, V28.B16 \
	VMOV V18.B16, V29.B16 \
	VFMLA V4.D2, V8.D2, V26.D2 \
	VFMLA V5.D2, V9.D2, V27.D2 \
	VFMLA V6.D2, V10.D2, V28.D2 \
	VFMLA V7.D2, V11.D2, V29.D2 \
	VMOV V17.B16, V4.B16 \
	VMOV V17.B16, V5.B16 \
	VMOV V17.B16, V6.B16 \
	VMOV V17.B16, V7.B16 \
	VFMLA V26.D2, V8.D2, V4.D2 \
	VFMLA V27.D2, V9.D2, V5.D2 \
	VFMLA V28.D2, V10.D2, V6.D2 \
	VFMLA V29.D2, V11.D2, V7.D2 \
	VMOV V16.B16, V26.B16 \
	VMOV V16.B16, V27.B16 \
	VMOV V16.B16, V28.B16 \
	VMOV V16.B16, V29.B16 \
	VFMLA V4.D2, V8.D2, V26.D2 \
	VFMLA V5.D2, V9.D2, V27.D2 \
	VFMLA V6.D2, V10.D2, V28.D2 \
	VFMLA V7.D2, V11.D2, V29.D2 \
	VMOV V15.B16, V4.B16 \
	VMOV V15.B16, V5.B16 \
	VMOV V15.B16, V6.B16 \
	VMOV V15.B16, V7.B16 \
	VFMLA V26.D2, V8.D2, V4.D2 \
	VFMLA V27.D2, V9.D2, V5.D2 \
	VFMLA V28.D2, V10.D2, V6.D2 \
	VFMLA V29.D2, V11.D2, V7.D2 \
	VMOV V14.B16, V26.B16 \
	VMOV V14.B16, V27.B16 \
	VMOV V14.B16, V28.B16 \
	VMOV V14.B16, V29.B16 \
	VFMLA V4.D2, V8.D2, V26.D2 \
	VFMLA V5.D2, V9.D2, V27.D2 \
	VFMLA V6.D2, V10.D2, V28.D2 \
	VFMLA V7.D2, V11.D2, V29.D2 \
	VMOV V13.B16, V4.B16 \
	VMOV V13.B16, V5.B16 \
	VMOV V13.B16, V6.B16 \
	VMOV V13.B16, V7.B16 \
	VFMLA V26.D2, V8.D2, V4.D2 \
	VFMLA V27.D2, V9.D2, V5.D2 \
	VFMLA V28.D2, V10.D2, V6.D2 \
	VFMLA V29.D2, V11.D2, V7.D2 \
	FMUL(0, 4, 4) \
	FMUL(1, 5, 5) \
	FMUL(2, 6, 6) \
	FMUL(3, 7, 7)

// V24, V25 = the partial sums of the value plus V4 to V7 times minus in V8 to V11.
#define ACCUMULATE \
	VFMLA V4.D2, V8.D2, V24.D2 \
	VFMLA V5.D2, V9.D2, V25.D2 \
	VFMLA V6.D2, V10.D2, V24.D2 \
	VFMLA V7.D2, V11.D2, V25.D2

// F0 = the sum of the four partial sums in V24 and V25.
#define TOTAL \
	FADD(25, 24, 24) \
	VDUP V24.D[1], V25.D2 \
	FADDD F24, F25, F0

// func valueNEON(turns, shift, minus, x *float64, dim, blocks int) float64
TEXT ·valueNEON(SB), NOSPLIT, $0-56
	MOVD turns+0(FP), R0
	MOVD shift+8(FP), R1
	MOVD minus+16(FP), R2
	MOVD x+24(FP), R3
	MOVD dim+32(FP), R4
	MOVD blocks+40(FP), R5
	CONSTANTS
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16

next:
	TURNS(coordinate)
	FOLD(0, 1, 2, 3)
	POLYNOMIAL
	VLD1.P 64(R2), [V8.D2, V9.D2, V10.D2, V11.D2]
	ACCUMULATE
	SUBS $1, R5
	BNE  next

	TOTAL
	FMOVD F0, ret+48(FP)
	RET

// func gradientNEON(turns, shift, minus, partial, x *float64, dim, blocks int) float64
TEXT ·gradientNEON(SB), NOSPLIT, $0-64
	MOVD turns+0(FP), R0
	MOVD shift+8(FP), R1
	MOVD minus+16(FP), R2
	MOVD partial+24(FP), R6
	MOVD x+32(FP), R3
	MOVD dim+40(FP), R4
	MOVD blocks+48(FP), R5
	CONSTANTS
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16

next:
	MOVD R0, R7
	TURNS(coordinate)

	// The sine is the cosine a quarter of a turn earlier.
	FSUB(12, 0, 22)
	FSUB(12, 1, 23)
	FSUB(12, 2, 30)
	FSUB(12, 3, 31)
	FOLD(0, 1, 2, 3)
	POLYNOMIAL
	VLD1 (R2), [V8.D2, V9.D2, V10.D2, V11.D2]
	ACCUMULATE
	FOLD(22, 23, 30, 31)
	POLYNOMIAL
	VLD1.P 64(R2), [V8.D2, V9.D2, V10.D2, V11.D2]
	FMUL(8, 4, 4)
	FMUL(9, 5, 5)
	FMUL(10, 6, 6)
	FMUL(11, 7, 7)

	MOVD R6, R12
	MOVD R4, R10

coordinates:
	VLD1 (R12), [V0.D2, V1.D2]
	VLD1.P 64(R7), [V26.D2, V27.D2, V28.D2, V29.D2]
	VFMLA V4.D2, V26.D2, V0.D2
	VFMLA V5.D2, V27.D2, V1.D2
	VFMLA V6.D2, V28.D2, V0.D2
	VFMLA V7.D2, V29.D2, V1.D2
	VST1.P [V0.D2, V1.D2], 32(R12)
	SUBS $1, R10
	BNE  coordinates

	SUBS $1, R5
	BNE  next

	TOTAL
	FMOVD F0, ret+56(FP)
	RET
