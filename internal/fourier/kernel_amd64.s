//go:build amd64 && !noasm

#include "textflag.h"

// Each constant four times, for use as a vector operand.
DATA p0<>+0(SB)/8, $0x401921fb54442d12 // 6.283185307179581
DATA p0<>+8(SB)/8, $0x401921fb54442d12
DATA p0<>+16(SB)/8, $0x401921fb54442d12
DATA p0<>+24(SB)/8, $0x401921fb54442d12
GLOBL p0<>(SB), RODATA|NOPTR, $32

DATA p1<>+0(SB)/8, $0xc044abbce625bbca // -41.34170224039515
DATA p1<>+8(SB)/8, $0xc044abbce625bbca
DATA p1<>+16(SB)/8, $0xc044abbce625bbca
DATA p1<>+24(SB)/8, $0xc044abbce625bbca
GLOBL p1<>(SB), RODATA|NOPTR, $32

DATA p2<>+0(SB)/8, $0x405466bc67748d45 // 81.605249275036
DATA p2<>+8(SB)/8, $0x405466bc67748d45
DATA p2<>+16(SB)/8, $0x405466bc67748d45
DATA p2<>+24(SB)/8, $0x405466bc67748d45
GLOBL p2<>(SB), RODATA|NOPTR, $32

DATA p3<>+0(SB)/8, $0xc0532d2ccdf20fac // -76.70585964812079
DATA p3<>+8(SB)/8, $0xc0532d2ccdf20fac
DATA p3<>+16(SB)/8, $0xc0532d2ccdf20fac
DATA p3<>+24(SB)/8, $0xc0532d2ccdf20fac
GLOBL p3<>(SB), RODATA|NOPTR, $32

DATA p4<>+0(SB)/8, $0x404507831961fae9 // 42.05868832859216
DATA p4<>+8(SB)/8, $0x404507831961fae9
DATA p4<>+16(SB)/8, $0x404507831961fae9
DATA p4<>+24(SB)/8, $0x404507831961fae9
GLOBL p4<>(SB), RODATA|NOPTR, $32

DATA p5<>+0(SB)/8, $0xc02e305ea49d131e // -15.094472068952708
DATA p5<>+8(SB)/8, $0xc02e305ea49d131e
DATA p5<>+16(SB)/8, $0xc02e305ea49d131e
DATA p5<>+24(SB)/8, $0xc02e305ea49d131e
GLOBL p5<>(SB), RODATA|NOPTR, $32

DATA p6<>+0(SB)/8, $0x400e89385632969b // 3.817001984995682
DATA p6<>+8(SB)/8, $0x400e89385632969b
DATA p6<>+16(SB)/8, $0x400e89385632969b
DATA p6<>+24(SB)/8, $0x400e89385632969b
GLOBL p6<>(SB), RODATA|NOPTR, $32

DATA p7<>+0(SB)/8, $0xbfe61c4c7a869f66 // -0.6909544365962403
DATA p7<>+8(SB)/8, $0xbfe61c4c7a869f66
DATA p7<>+16(SB)/8, $0xbfe61c4c7a869f66
DATA p7<>+24(SB)/8, $0xbfe61c4c7a869f66
GLOBL p7<>(SB), RODATA|NOPTR, $32

DATA quarter<>+0(SB)/8, $0x3fd0000000000000 // 0.25
DATA quarter<>+8(SB)/8, $0x3fd0000000000000
DATA quarter<>+16(SB)/8, $0x3fd0000000000000
DATA quarter<>+24(SB)/8, $0x3fd0000000000000
GLOBL quarter<>(SB), RODATA|NOPTR, $32

DATA magnitude<>+0(SB)/8, $0x7fffffffffffffff // all but the sign
DATA magnitude<>+8(SB)/8, $0x7fffffffffffffff
DATA magnitude<>+16(SB)/8, $0x7fffffffffffffff
DATA magnitude<>+24(SB)/8, $0x7fffffffffffffff
GLOBL magnitude<>(SB), RODATA|NOPTR, $32

// Reduces the turns in A and B to u = |t - round t| - 1/4. TA, TB are scratch;
// Y12 holds 1/4, Y13 the mask of the magnitude.
#define FOLD(A, B, TA, TB) \
	VROUNDPD $8, A, TA     \
	VROUNDPD $8, B, TB     \
	VSUBPD   TA, A, A      \
	VSUBPD   TB, B, B      \
	VANDPD   Y13, A, A     \
	VANDPD   Y13, B, B     \
	VSUBPD   Y12, A, A     \
	VSUBPD   Y12, B, B

// PA, PB = u P(u²) for u in A and B, which is minus the cosine. VA, VB are
// scratch.
#define POLYNOMIAL(A, B, VA, VB, PA, PB) \
	VMULPD      A, A, VA               \
	VMULPD      B, B, VB               \
	VMOVUPD     p7<>(SB), PA           \
	VMOVAPD     PA, PB                 \
	VFMADD213PD p6<>(SB), VA, PA       \
	VFMADD213PD p6<>(SB), VB, PB       \
	VFMADD213PD p5<>(SB), VA, PA       \
	VFMADD213PD p5<>(SB), VB, PB       \
	VFMADD213PD p4<>(SB), VA, PA       \
	VFMADD213PD p4<>(SB), VB, PB       \
	VFMADD213PD p3<>(SB), VA, PA       \
	VFMADD213PD p3<>(SB), VB, PB       \
	VFMADD213PD p2<>(SB), VA, PA       \
	VFMADD213PD p2<>(SB), VB, PB       \
	VFMADD213PD p1<>(SB), VA, PA       \
	VFMADD213PD p1<>(SB), VB, PB       \
	VFMADD213PD p0<>(SB), VA, PA       \
	VFMADD213PD p0<>(SB), VB, PB       \
	VMULPD      A, PA, PA              \
	VMULPD      B, PB, PB

// Y0, Y1 = the turns of the block at SI, which moves on, with shifts at DI.
// R8 is x, CX its length.
#define TURNS(LABEL) \
	VMOVUPD      (DI), Y0       \
	VMOVUPD      32(DI), Y1     \
	MOVQ         R8, R9         \
	MOVQ         CX, R10        \
LABEL:                          \
	VBROADCASTSD (R9), Y2       \
	VFMADD231PD  (SI), Y2, Y0   \
	VFMADD231PD  32(SI), Y2, Y1 \
	ADDQ         $64, SI        \
	ADDQ         $8, R9         \
	DECQ         R10            \
	JNZ          LABEL

// X0 = the sum of the eight partial sums in Y14 and Y15.
#define TOTAL \
	VADDPD       Y15, Y14, Y14 \
	VEXTRACTF128 $1, Y14, X0   \
	VADDPD       X14, X0, X0   \
	VHADDPD      X0, X0, X0

// func valueAVX2(turns, shift, minus, x *float64, dim, blocks int) float64
TEXT ·valueAVX2(SB), NOSPLIT, $0-56
	MOVQ    turns+0(FP), SI
	MOVQ    shift+8(FP), DI
	MOVQ    minus+16(FP), DX
	MOVQ    x+24(FP), R8
	MOVQ    dim+32(FP), CX
	MOVQ    blocks+40(FP), BX
	VMOVUPD quarter<>(SB), Y12
	VMOVUPD magnitude<>(SB), Y13
	VXORPD  Y14, Y14, Y14
	VXORPD  Y15, Y15, Y15

next:
	TURNS(coordinate)
	FOLD(Y0, Y1, Y2, Y3)
	POLYNOMIAL(Y0, Y1, Y2, Y3, Y4, Y5)
	VFMADD231PD (DX), Y4, Y14
	VFMADD231PD 32(DX), Y5, Y15
	ADDQ        $64, DI
	ADDQ        $64, DX
	DECQ        BX
	JNZ         next

	TOTAL
	VZEROUPPER
	MOVSD X0, ret+48(FP)
	RET

// func gradientAVX2(turns, shift, minus, partial, x *float64, dim, blocks int) float64
TEXT ·gradientAVX2(SB), NOSPLIT, $0-64
	MOVQ    turns+0(FP), SI
	MOVQ    shift+8(FP), DI
	MOVQ    minus+16(FP), DX
	MOVQ    partial+24(FP), R13
	MOVQ    x+32(FP), R8
	MOVQ    dim+40(FP), CX
	MOVQ    blocks+48(FP), BX
	VMOVUPD quarter<>(SB), Y12
	VMOVUPD magnitude<>(SB), Y13
	VXORPD  Y14, Y14, Y14
	VXORPD  Y15, Y15, Y15

next:
	MOVQ SI, R11
	TURNS(coordinate)

	// The sine is the cosine a quarter of a turn earlier.
	VSUBPD Y12, Y0, Y6
	VSUBPD Y12, Y1, Y7
	FOLD(Y0, Y1, Y2, Y3)
	FOLD(Y6, Y7, Y8, Y9)
	POLYNOMIAL(Y0, Y1, Y2, Y3, Y4, Y5)
	POLYNOMIAL(Y6, Y7, Y8, Y9, Y10, Y11)
	VMOVUPD     (DX), Y2
	VMOVUPD     32(DX), Y3
	VFMADD231PD Y2, Y4, Y14
	VFMADD231PD Y3, Y5, Y15
	VMULPD      Y2, Y10, Y10
	VMULPD      Y3, Y11, Y11

	MOVQ R13, R12
	MOVQ CX, R10

coordinates:
	VMOVUPD     (R12), Y0
	VFMADD231PD (R11), Y10, Y0
	VFMADD231PD 32(R11), Y11, Y0
	VMOVUPD     Y0, (R12)
	ADDQ        $64, R11
	ADDQ        $32, R12
	DECQ        R10
	JNZ         coordinates

	ADDQ $64, DI
	ADDQ $64, DX
	DECQ BX
	JNZ  next

	TOTAL
	VZEROUPPER
	MOVSD X0, ret+56(FP)
	RET
