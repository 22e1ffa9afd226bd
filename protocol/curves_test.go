package protocol

import (
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

func exampleCurves() Curves {
	return Curves{Rungs: []CurveRung{
		{Count: 12, Values: Quartiles{-1, 0, 2.5}, Complete: 5, Changes: Quartiles{-.5, -.25, 0}},
		{Count: 4, Values: Quartiles{-MaxUnit, 7, MaxUnit}},
	}}
}

func curves() codec[Curves] { return codec[Curves]{Curves.Encode, DecodeCurves} }

func TestCurvesSurviveTheWire(t *testing.T) {
	curves().refusesDamage(t, exampleCurves(), MaxRungs*70+payloadOverhead, nil)
	full := Curves{}
	for range MaxRungs {
		full.Rungs = append(full.Rungs, CurveRung{Count: math.MaxInt32, Values: Quartiles{-1, 0, 1}, Complete: math.MaxInt32, Changes: Quartiles{-1, 0, 1}})
	}
	curves().survives(t, full)
}

func TestCurvesThatAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Curves){
		"no rung":                      func(c *Curves) { c.Rungs = nil },
		"too many rungs":               func(c *Curves) { c.Rungs = make([]CurveRung, MaxRungs+1) },
		"few evaluations":              func(c *Curves) { c.Rungs[1].Count = MinCurves - 1 },
		"more evaluations later":       func(c *Curves) { c.Rungs[1].Count = 13 },
		"few complete ones":            func(c *Curves) { c.Rungs[0].Complete = 3 },
		"more complete than reached":   func(c *Curves) { c.Rungs[0].Complete = 13 },
		"complete ones appear later":   func(c *Curves) { c.Rungs[0].Complete, c.Rungs[0].Changes, c.Rungs[1].Complete = 0, Quartiles{}, 4 },
		"changes of none":              func(c *Curves) { c.Rungs[1].Changes[2] = 1 },
		"quartiles in the wrong order": func(c *Curves) { c.Rungs[0].Values[2] = -1.5 },
		"changes in the wrong order":   func(c *Curves) { c.Rungs[0].Changes[0] = 1 },
		"NaN":                          func(c *Curves) { c.Rungs[0].Values[1] = math.NaN() },
		"infinite":                     func(c *Curves) { c.Rungs[0].Values[0] = math.Inf(-1) },
		"too large":                    func(c *Curves) { c.Rungs[0].Values[2] = 2 * MaxUnit },
	} {
		c := exampleCurves()
		change(&c)
		m := &pb.Curves{}
		for _, r := range c.Rungs {
			m.Rungs = append(m.Rungs, &pb.CurveRung{Count: uint32(r.Count), Values: r.Values[:], Complete: uint32(r.Complete), Changes: r.Changes[:]})
		}
		curves().judges(t, name, m, c, false)
	}
	for name, rung := range map[string]*pb.CurveRung{
		"two quartiles":         {Count: 4, Values: []float64{1, 2}},
		"four quartiles":        {Count: 4, Values: []float64{1, 2, 3, 4}},
		"no changes":            {Count: 4, Values: []float64{1, 2, 3}, Complete: 4},
		"two changes":           {Count: 4, Values: []float64{1, 2, 3}, Complete: 4, Changes: []float64{1, 2}},
		"more than an int32":    {Count: math.MaxUint32, Values: []float64{1, 2, 3}},
		"complete beyond int32": {Count: 4, Values: []float64{1, 2, 3}, Complete: math.MaxUint32, Changes: []float64{1, 2, 3}},
	} {
		data, err := proto.Marshal(&pb.Curves{Rungs: []*pb.CurveRung{rung}})
		if err != nil {
			t.Fatal(err)
		}
		curves().malformed(t, name, data)
	}
}

func FuzzDecodeCurves(f *testing.F) { curves().fuzz(f, exampleCurves(), nil) }
