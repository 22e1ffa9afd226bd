package securesum

import (
	"crypto/rand"
	"encoding"
	"testing"

	"github.com/cloudflare/circl/vdaf/prio3/sumvec"
)

// The contribution of a node with 256 features and 4 observations, in the units of package
// exchange/sums: 512 numbers of 30 bits.
const (
	comparedNumbers = 512
	comparedBits    = 30
	comparedChunk   = 124 // near the root of the number of bits, which makes proofs short
	comparedMembers = 7
)

// BenchmarkContributionPrio3 measures a contribution to a sum by Prio3 of draft-irtf-cfrg-vdaf among
// seven aggregators: its bytes and time, and the time of each aggregator for its check. The contributions are
// complete: every aggregator must be present until the end.
func BenchmarkContributionPrio3(b *testing.B) {
	sum, err := sumvec.New(comparedMembers, comparedNumbers, comparedBits, comparedChunk, []byte("fbo"))
	if err != nil {
		b.Fatal(err)
	}
	params := sum.Params()
	random := make([]byte, params.RandSize())
	var nonce sumvec.Nonce
	var key sumvec.VerifyKey
	for _, p := range [][]byte{random, nonce[:], key[:]} {
		if _, err := rand.Read(p); err != nil {
			b.Fatal(err)
		}
	}
	measurement := make([]uint64, comparedNumbers)
	for i := range measurement {
		measurement[i] = uint64(i) << 15
	}
	public, shares, err := sum.Shard(measurement, &nonce, random)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("deal", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := sum.Shard(measurement, &nonce, random); err != nil {
				b.Fatal(err)
			}
		}
		bytes := 0
		for i := range shares {
			bytes += size(b, &shares[i]) + size(b, &public)
		}
		b.ReportMetric(float64(bytes), "bytes/contributor")
	})
	b.Run("check", func(b *testing.B) {
		var prepared int
		for b.Loop() {
			_, share, err := sum.PrepInit(&key, &nonce, 1, public, shares[1])
			if err != nil {
				b.Fatal(err)
			}
			prepared = size(b, share)
		}
		b.ReportMetric(float64(prepared), "bytes/check")
	})
}

// BenchmarkContributionShamir measures the same for this package. Two of the seven members may
// collude, and two may be absent.
func BenchmarkContributionShamir(b *testing.B) {
	committee := committeeOf(b, comparedMembers, 2)
	e := benchmarkExchange(b, comparedMembers, committee, comparedNumbers)
	d, err := e.split(1, make([]element, comparedNumbers))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("deal", func(b *testing.B) {
		for b.Loop() {
			if _, err := e.split(1, make([]element, comparedNumbers)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(comparedMembers*DealBytes(committee, comparedNumbers)), "bytes/contributor")
	})
	b.Run("check", func(b *testing.B) {
		of := dealing{1, e.self}
		for b.Loop() {
			if !e.signed(of, d.header) || !e.opens(of, d.header, 1, d.parts[1]) || !e.fits(of, d.header, 1, d.parts[1]) {
				b.Fatal("the part does not fit")
			}
		}
	})
}

func size(b *testing.B, m encoding.BinaryMarshaler) int {
	data, err := m.MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	return len(data)
}

// TestDealBytes compares the stated size of a deal with a real one.
func TestDealBytes(t *testing.T) {
	for _, c := range []Committee{{5, 1, 4}, {7, 2, 5}} {
		cfg := configOf(t, 7, c)
		cfg.Random = rand.Reader
		keys := withKeys(t, &cfg, 7)
		cfg.Self = cfg.Roster[0]
		cfg.Sign = Signer(keys[cfg.Self])
		e, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.split(1, make([]element, cfg.Dimension))
		if err != nil {
			t.Fatal(err)
		}
		got := len(e.shape.encode(message{round: 1, kind: kindShare, header: d.header, part: d.parts[0]}))
		if want := DealBytes(c, cfg.Dimension); got != want {
			t.Errorf("%+v: a deal of %d bytes, DealBytes returns %d", c, got, want)
		}
	}
}
