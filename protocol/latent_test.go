package protocol

import (
	"math"
	"testing"
)

func exampleLatent() Latent {
	return Latent{
		Observations: 2,
		Lengthscales: []float64{0.25, 2},
		Rows:         [][]float64{{1, -2, MaxLatent}, {0, 0.5, 0}},
		Outputs:      []float64{-MaxLatent, 3},
	}
}

func latents(parameters, points int) codec[Latent] {
	return codec[Latent]{
		func(l Latent) ([]byte, error) { return l.Encode(points) },
		func(data []byte) (Latent, error) { return DecodeLatent(data, parameters, points) },
	}
}

func TestLatentSurvivesTheWire(t *testing.T) {
	latents(2, 3).refusesDamage(t, exampleLatent(), 4*(2+3+6)+payloadOverhead, nil)
	payload := latents(2, 3).encoded(t, exampleLatent())
	latents(1, 3).malformed(t, "with another number of parameters", payload)
	latents(2, 4).malformed(t, "with another number of points", payload)
}

func TestLatentThatIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Latent){
		"no observations":          func(l *Latent) { l.Observations = 0 },
		"more rows than observed":  func(l *Latent) { l.Observations = 1 },
		"an output less":           func(l *Latent) { l.Outputs = l.Outputs[1:] },
		"a number less":            func(l *Latent) { l.Rows[0] = l.Rows[0][1:] },
		"a number below the ramp":  func(l *Latent) { l.Rows[1][0] = 1 },
		"a number that is NaN":     func(l *Latent) { l.Rows[0][1] = math.NaN() },
		"a number too large":       func(l *Latent) { l.Rows[0][1] = -1.01 * MaxLatent },
		"an infinite output":       func(l *Latent) { l.Outputs[1] = math.Inf(1) },
		"lengthscale 0":            func(l *Latent) { l.Lengthscales[0] = 0 },
		"an infinite lengthscale":  func(l *Latent) { l.Lengthscales[1] = math.Inf(1) },
		"a lengthscale that's NaN": func(l *Latent) { l.Lengthscales[1] = math.NaN() },
	} {
		l := exampleLatent()
		change(&l)
		latents(2, 3).unsendable(t, name, l)
	}
}

func FuzzDecodeLatent(f *testing.F) { latents(2, 3).fuzz(f, exampleLatent(), nil) }
