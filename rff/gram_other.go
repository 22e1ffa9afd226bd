//go:build !amd64 || noasm

package rff

func (p *packed) addOuter(g []float64, stride int, scale float64) {
	p.addOuterPortable(g, stride, scale)
}
