//go:build amd64 && !noasm

#include "textflag.h"

// Each constant four times, for use as a vector operand.
DATA e0<>+0(SB)/8, $0x3ff0000000000000 // 1/0!
DATA e0<>+8(SB)/8, $0x3ff0000000000000
DATA e0<>+16(SB)/8, $0x3ff0000000000000
DATA e0<>+24(SB)/8, $0x3ff0000000000000
GLOBL e0<>(SB), RODATA|NOPTR, $32

DATA e1<>+0(SB)/8, $0x3ff0000000000000 // 1/1!
DATA e1<>+8(SB)/8, $0x3ff0000000000000
DATA e1<>+16(SB)/8, $0x3ff0000000000000
DATA e1<>+24(SB)/8, $0x3ff0000000000000
GLOBL e1<>(SB), RODATA|NOPTR, $32

DATA e2<>+0(SB)/8, $0x3fe0000000000000 // 1/2!
DATA e2<>+8(SB)/8, $0x3fe0000000000000
DATA e2<>+16(SB)/8, $0x3fe0000000000000
DATA e2<>+24(SB)/8, $0x3fe0000000000000
GLOBL e2<>(SB), RODATA|NOPTR, $32

DATA e3<>+0(SB)/8, $0x3fc5555555555555 // 1/3!
DATA e3<>+8(SB)/8, $0x3fc5555555555555
DATA e3<>+16(SB)/8, $0x3fc5555555555555
DATA e3<>+24(SB)/8, $0x3fc5555555555555
GLOBL e3<>(SB), RODATA|NOPTR, $32

DATA e4<>+0(SB)/8, $0x3fa5555555555555 // 1/4!
DATA e4<>+8(SB)/8, $0x3fa5555555555555
DATA e4<>+16(SB)/8, $0x3fa5555555555555
DATA e4<>+24(SB)/8, $0x3fa5555555555555
GLOBL e4<>(SB), RODATA|NOPTR, $32

DATA e5<>+0(SB)/8, $0x3f81111111111111 // 1/5!
DATA e5<>+8(SB)/8, $0x3f81111111111111
DATA e5<>+16(SB)/8, $0x3f81111111111111
DATA e5<>+24(SB)/8, $0x3f81111111111111
GLOBL e5<>(SB), RODATA|NOPTR, $32

DATA e6<>+0(SB)/8, $0x3f56c16c16c16c17 // 1/6!
DATA e6<>+8(SB)/8, $0x3f56c16c16c16c17
DATA e6<>+16(SB)/8, $0x3f56c16c16c16c17
DATA e6<>+24(SB)/8, $0x3f56c16c16c16c17
GLOBL e6<>(SB), RODATA|NOPTR, $32

DATA e7<>+0(SB)/8, $0x3f2a01a01a01a01a // 1/7!
DATA e7<>+8(SB)/8, $0x3f2a01a01a01a01a
DATA e7<>+16(SB)/8, $0x3f2a01a01a01a01a
DATA e7<>+24(SB)/8, $0x3f2a01a01a01a01a
GLOBL e7<>(SB), RODATA|NOPTR, $32

DATA e8<>+0(SB)/8, $0x3efa01a01a01a01a // 1/8!
DATA e8<>+8(SB)/8, $0x3efa01a01a01a01a
DATA e8<>+16(SB)/8, $0x3efa01a01a01a01a
DATA e8<>+24(SB)/8, $0x3efa01a01a01a01a
GLOBL e8<>(SB), RODATA|NOPTR, $32

DATA e9<>+0(SB)/8, $0x3ec71de3a556c734 // 1/9!
DATA e9<>+8(SB)/8, $0x3ec71de3a556c734
DATA e9<>+16(SB)/8, $0x3ec71de3a556c734
DATA e9<>+24(SB)/8, $0x3ec71de3a556c734
GLOBL e9<>(SB), RODATA|NOPTR, $32

DATA e10<>+0(SB)/8, $0x3e927e4fb7789f5c // 1/10!
DATA e10<>+8(SB)/8, $0x3e927e4fb7789f5c
DATA e10<>+16(SB)/8, $0x3e927e4fb7789f5c
DATA e10<>+24(SB)/8, $0x3e927e4fb7789f5c
GLOBL e10<>(SB), RODATA|NOPTR, $32

DATA e11<>+0(SB)/8, $0x3e5ae64567f544e4 // 1/11!
DATA e11<>+8(SB)/8, $0x3e5ae64567f544e4
DATA e11<>+16(SB)/8, $0x3e5ae64567f544e4
DATA e11<>+24(SB)/8, $0x3e5ae64567f544e4
GLOBL e11<>(SB), RODATA|NOPTR, $32

DATA e12<>+0(SB)/8, $0x3e21eed8eff8d898 // 1/12!
DATA e12<>+8(SB)/8, $0x3e21eed8eff8d898
DATA e12<>+16(SB)/8, $0x3e21eed8eff8d898
DATA e12<>+24(SB)/8, $0x3e21eed8eff8d898
GLOBL e12<>(SB), RODATA|NOPTR, $32

DATA log2e<>+0(SB)/8, $0x3ff71547652b82fe // 1/ln 2
DATA log2e<>+8(SB)/8, $0x3ff71547652b82fe
DATA log2e<>+16(SB)/8, $0x3ff71547652b82fe
DATA log2e<>+24(SB)/8, $0x3ff71547652b82fe
GLOBL log2e<>(SB), RODATA|NOPTR, $32

DATA ln2high<>+0(SB)/8, $0x3fe62e42fee00000 // ln 2, its first 33 bits, so that its product with a small integer is exact
DATA ln2high<>+8(SB)/8, $0x3fe62e42fee00000
DATA ln2high<>+16(SB)/8, $0x3fe62e42fee00000
DATA ln2high<>+24(SB)/8, $0x3fe62e42fee00000
GLOBL ln2high<>(SB), RODATA|NOPTR, $32

DATA ln2low<>+0(SB)/8, $0x3dea39ef35793c76 // what is left of it
DATA ln2low<>+8(SB)/8, $0x3dea39ef35793c76
DATA ln2low<>+16(SB)/8, $0x3dea39ef35793c76
DATA ln2low<>+24(SB)/8, $0x3dea39ef35793c76
GLOBL ln2low<>(SB), RODATA|NOPTR, $32

DATA lowest<>+0(SB)/8, $0xc086200000000000 // below, the exponential would not be a normal number
DATA lowest<>+8(SB)/8, $0xc086200000000000
DATA lowest<>+16(SB)/8, $0xc086200000000000
DATA lowest<>+24(SB)/8, $0xc086200000000000
GLOBL lowest<>(SB), RODATA|NOPTR, $32

DATA bias<>+0(SB)/8, $0x00000000000003ff // the exponent's
DATA bias<>+8(SB)/8, $0x00000000000003ff
DATA bias<>+16(SB)/8, $0x00000000000003ff
DATA bias<>+24(SB)/8, $0x00000000000003ff
GLOBL bias<>(SB), RODATA|NOPTR, $32

DATA minushalf<>+0(SB)/8, $0xbfe0000000000000 // -1/2
DATA minushalf<>+8(SB)/8, $0xbfe0000000000000
DATA minushalf<>+16(SB)/8, $0xbfe0000000000000
DATA minushalf<>+24(SB)/8, $0xbfe0000000000000
GLOBL minushalf<>(SB), RODATA|NOPTR, $32

DATA five<>+0(SB)/8, $0x4014000000000000 // 5
DATA five<>+8(SB)/8, $0x4014000000000000
DATA five<>+16(SB)/8, $0x4014000000000000
DATA five<>+24(SB)/8, $0x4014000000000000
GLOBL five<>(SB), RODATA|NOPTR, $32

DATA fivethirds<>+0(SB)/8, $0x3ffaaaaaaaaaaaab // 5/3
DATA fivethirds<>+8(SB)/8, $0x3ffaaaaaaaaaaaab
DATA fivethirds<>+16(SB)/8, $0x3ffaaaaaaaaaaaab
DATA fivethirds<>+24(SB)/8, $0x3ffaaaaaaaaaaaab
GLOBL fivethirds<>(SB), RODATA|NOPTR, $32

DATA minus<>+0(SB)/8, $0x8000000000000000 // the sign
DATA minus<>+8(SB)/8, $0x8000000000000000
DATA minus<>+16(SB)/8, $0x8000000000000000
DATA minus<>+24(SB)/8, $0x8000000000000000
GLOBL minus<>(SB), RODATA|NOPTR, $32

DATA farthest<>+0(SB)/8, $0x40f86a0000000000 // 1e5, a square beyond which the kernel is nothing
DATA farthest<>+8(SB)/8, $0x40f86a0000000000
DATA farthest<>+16(SB)/8, $0x40f86a0000000000
DATA farthest<>+24(SB)/8, $0x40f86a0000000000
GLOBL farthest<>(SB), RODATA|NOPTR, $32

// Y0 = exp(Y0) for Y0 <= 0. A NaN stays one. Y1 to Y3 are scratch.
// With n the whole number nearest to x/ln 2 and r = x - n ln 2, exp x is
// 2^n exp r, and Taylor's polynomial of degree 12 is exact enough for |r| < 0.35.
#define EXP \
	VMOVUPD      lowest<>(SB), Y1           \
	VMAXPD       Y0, Y1, Y0                 \
	VMULPD       log2e<>(SB), Y0, Y1        \
	VROUNDPD     $8, Y1, Y1                 \
	VFNMADD231PD ln2high<>(SB), Y1, Y0      \
	VFNMADD231PD ln2low<>(SB), Y1, Y0       \
	VMOVUPD      e12<>(SB), Y2              \
	VFMADD213PD  e11<>(SB), Y0, Y2          \
	VFMADD213PD  e10<>(SB), Y0, Y2          \
	VFMADD213PD  e9<>(SB), Y0, Y2           \
	VFMADD213PD  e8<>(SB), Y0, Y2           \
	VFMADD213PD  e7<>(SB), Y0, Y2           \
	VFMADD213PD  e6<>(SB), Y0, Y2           \
	VFMADD213PD  e5<>(SB), Y0, Y2           \
	VFMADD213PD  e4<>(SB), Y0, Y2           \
	VFMADD213PD  e3<>(SB), Y0, Y2           \
	VFMADD213PD  e2<>(SB), Y0, Y2           \
	VFMADD213PD  e1<>(SB), Y0, Y2           \
	VFMADD213PD  e0<>(SB), Y0, Y2           \
	VCVTPD2DQY   Y1, X3                     \
	VPMOVSXDQ    X3, Y3                     \
	VPADDQ       bias<>(SB), Y3, Y3         \
	VPSLLQ       $52, Y3, Y3                \
	VMULPD       Y3, Y2, Y0

// func squaresAVX2(squares, row *float64, at float64, n int)
TEXT ·squaresAVX2(SB), NOSPLIT, $0-32
	MOVQ         squares+0(FP), DI
	MOVQ         row+8(FP), SI
	VBROADCASTSD at+16(FP), Y2
	MOVQ         n+24(FP), CX

next:
	VMOVUPD     (SI), Y0
	VMOVUPD     (DI), Y1
	VSUBPD      Y2, Y0, Y0
	VFMADD231PD Y0, Y0, Y1
	VMOVUPD     Y1, (DI)
	ADDQ        $32, SI
	ADDQ        $32, DI
	DECQ        CX
	JNZ         next
	VZEROUPPER
	RET

// func weightedSquaresAVX2(weights, row *float64, at float64, n int) float64
TEXT ·weightedSquaresAVX2(SB), NOSPLIT, $0-40
	MOVQ         weights+0(FP), DI
	MOVQ         row+8(FP), SI
	VBROADCASTSD at+16(FP), Y2
	MOVQ         n+24(FP), CX
	VXORPD       Y3, Y3, Y3
	VXORPD       Y4, Y4, Y4
	SUBQ         $2, CX
	JLT          last

pair:
	VMOVUPD     (SI), Y0
	VMOVUPD     32(SI), Y1
	VSUBPD      Y2, Y0, Y0
	VSUBPD      Y2, Y1, Y1
	VMULPD      Y0, Y0, Y0
	VMULPD      Y1, Y1, Y1
	VFMADD231PD (DI), Y0, Y3
	VFMADD231PD 32(DI), Y1, Y4
	ADDQ        $64, SI
	ADDQ        $64, DI
	SUBQ        $2, CX
	JGE         pair

last:
	ADDQ        $2, CX
	JZ          done
	VMOVUPD     (SI), Y0
	VSUBPD      Y2, Y0, Y0
	VMULPD      Y0, Y0, Y0
	VFMADD231PD (DI), Y0, Y3

done:
	VADDPD       Y4, Y3, Y3
	VEXTRACTF128 $1, Y3, X4
	VADDPD       X4, X3, X3
	VHADDPD      X3, X3, X3
	VMOVSD       X3, ret+32(FP)
	VZEROUPPER
	RET

// func dotAVX2(a, b *float64, n int) float64
TEXT ·dotAVX2(SB), NOSPLIT, $0-32
	MOVQ   a+0(FP), DI
	MOVQ   b+8(FP), SI
	MOVQ   n+16(FP), CX
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	SUBQ   $2, CX
	JLT    last

pair:
	VMOVUPD     (SI), Y0
	VMOVUPD     32(SI), Y1
	VFMADD231PD (DI), Y0, Y3
	VFMADD231PD 32(DI), Y1, Y4
	ADDQ        $64, SI
	ADDQ        $64, DI
	SUBQ        $2, CX
	JGE         pair

last:
	ADDQ        $2, CX
	JZ          done
	VMOVUPD     (SI), Y0
	VFMADD231PD (DI), Y0, Y3

done:
	VADDPD       Y4, Y3, Y3
	VEXTRACTF128 $1, Y3, X4
	VADDPD       X4, X3, X3
	VHADDPD      X3, X3, X3
	VMOVSD       X3, ret+24(FP)
	VZEROUPPER
	RET

// func maternAVX2(k, slope, squares *float64, n int)
TEXT ·maternAVX2(SB), NOSPLIT, $0-32
	MOVQ k+0(FP), DI
	MOVQ slope+8(FP), DX
	MOVQ squares+16(FP), SI
	MOVQ n+24(FP), CX

next:
	VMOVUPD (SI), Y4
	VMOVUPD farthest<>(SB), Y5
	VMINPD  Y4, Y5, Y4                  // a NaN stays one
	VMULPD  five<>(SB), Y4, Y5
	VSQRTPD Y5, Y5                      // root
	VXORPD  minus<>(SB), Y5, Y0
	EXP
	VADDPD  e0<>(SB), Y5, Y5            // 1 + root
	VMULPD  fivethirds<>(SB), Y5, Y6
	VMULPD  Y0, Y6, Y6
	VFMADD231PD fivethirds<>(SB), Y4, Y5 // + 5/3 square
	VMULPD  Y0, Y5, Y5
	VMOVUPD Y5, (DI)
	VMOVUPD Y6, (DX)
	ADDQ    $32, SI
	ADDQ    $32, DI
	ADDQ    $32, DX
	DECQ    CX
	JNZ     next
	VZEROUPPER
	RET

// func seAVX2(k, slope, squares *float64, n int)
TEXT ·seAVX2(SB), NOSPLIT, $0-32
	MOVQ k+0(FP), DI
	MOVQ slope+8(FP), DX
	MOVQ squares+16(FP), SI
	MOVQ n+24(FP), CX

next:
	VMOVUPD (SI), Y0
	VMULPD  minushalf<>(SB), Y0, Y0
	EXP
	VMOVUPD Y0, (DI)
	VMOVUPD Y0, (DX)
	ADDQ    $32, SI
	ADDQ    $32, DI
	ADDQ    $32, DX
	DECQ    CX
	JNZ     next
	VZEROUPPER
	RET
