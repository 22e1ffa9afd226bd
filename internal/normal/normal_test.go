package normal

import (
	"math"
	"testing"
)

// The values are from mpmath with 60 and 800 digits: below -200 by the continued
// fraction with 60 terms, elsewhere by erfc.
var normalTable = []struct{ z, logExcess, cumulativeRatio, densityRatio, logCumulative, slope float64 }{
	{-1e8, -5000000000000037.8, 100000000.00000002, 10000000000000003.0, -5000000000000019.3, 100000000.00000001},
	{-1e6, -500000000028.54996, 1000000.000002, 1000000000003.0, -500000000014.73445, 1000000.000001},
	{-1e4, -50000019.339619307, 10000.000199999994, 100000002.99999994, -50000010.129278915, 10000.000099999998},
	{-300, -45012.326536814554, 300.00666644446173, 90002.999933338518, -45006.622732118663, 300.00333325926337},
	{-40, -808.29856835661996, 40.049906657648518, 1602.9962663059407, -804.60844201375379, 40.024968847207264},
	{-12, -77.909100545007348, 12.16335257158574, 146.96023085902888, -75.410673001568796, 12.082214175254284},
	{-5.5, -19.543071452824105, 5.8339546627230048, 33.086750644976526, -17.779376352625261, 5.6714103138973056},
	{-5, -16.74430116266099, 5.3618162412880885, 27.809081206440443, -15.064998393988726, 5.1865039671258421},
	{-4.999, -16.738939816412742, 5.3608762582673033, 27.799020415078249, -15.059812373671578, 5.1855366689741896},
	{-3, -7.8696860596030285, 3.5323375176251605, 11.597012552875482, -6.6077262215103495, 3.2830986549304365},
	{-1, -2.4851210257126413, 1.9042712333296918, 2.9042712333296918, -1.8410216450092635, 1.5251352761609812},
	{-0.25, -1.2505589553352224, 1.4014356710866813, 1.3503589177716703, -0.91306176481113506, 0.96355397941640391},
	{0, -0.91893853320467274, 1.2533141373155003, 1.0, -0.69314718055994531, 0.79788456080286536},
	{0.5, -0.35982768374506382, 0.99092271800410996, 0.50453864099794502, -0.36894641528865639, 0.50916043383703349},
	{1, 0.08002621884930694, 0.77663872520173926, 0.22336127479826074, -0.17275377902344989, 0.28759997093917836},
	{3, 1.0987396653277078, 0.33284096845179524, 0.0014770946446142933, -0.0013508099647481938, 0.0044378390421256638},
	{8, 2.0794415416798359, 0.12499999999999992, 6.3153388544211153e-16, -6.2209605742717861e-16, 5.0522710835368954e-15},
	{40, 3.6888794541139363, 0.025, 0, 0, 0},
	{1000, 6.9077552789821371, 0.001, 0, 0, 0},
}

// near allows the relative error, and so much absolutely below 1e-300, where
// a float64 has lost digits or is 0.
func near(got, want, relative float64) bool {
	return math.Abs(got-want) <= relative*math.Abs(want)+1e-300
}

func TestNormalFunctions(t *testing.T) {
	// Just above the tail, two terms of size z²·h cancel in h.
	const relative = 2e-13
	for _, row := range normalTable {
		value, cumulativeRatio, densityRatio := LogExcess(row.z)
		logPhi, slope := LogCDF(row.z)
		h, c, d := Excess(row.z)
		for _, check := range []struct {
			name      string
			got, want float64
		}{
			{"log h", value, row.logExcess},
			{"Φ/h", cumulativeRatio, row.cumulativeRatio},
			{"φ/h", densityRatio, row.densityRatio},
			{"log Φ", logPhi, row.logCumulative},
			{"φ/Φ", slope, row.slope},
			{"h", h, math.Exp(row.logExcess)},
			{"h's Φ", c, math.Exp(row.logExcess) * row.cumulativeRatio},
			{"h's φ", d, math.Exp(row.logExcess) * row.densityRatio},
		} {
			if row.z < -30 && check.name[0] == 'h' {
				continue // exp of a rounded logarithm has fewer digits
			}
			if !near(check.got, check.want, relative) {
				t.Errorf("%s at %g: %.17g, want %.17g", check.name, row.z, check.got, check.want)
			}
		}
	}
}

// The two forms on both sides of the tail continue each other: no maximiser sees
// a step where they meet.
func TestNormalFunctionsAreContinuous(t *testing.T) {
	for _, z := range []float64{-tail, 1} {
		below, above := math.Nextafter(z, math.Inf(-1)), math.Nextafter(z, math.Inf(1))
		first, _, _ := LogExcess(below)
		second, _, _ := LogExcess(above)
		if !near(first, second, 1e-13) {
			t.Errorf("log h steps from %.17g to %.17g at %g", first, second, z)
		}
		first, _ = LogCDF(below)
		second, _ = LogCDF(above)
		if !near(first, second, 1e-13) {
			t.Errorf("log Φ steps from %.17g to %.17g at %g", first, second, z)
		}
	}
}
