package trained

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// A town of five regions, of which the last has no road. The road from 12 to 10 is named
// at one end, and 11 names itself.
const (
	regions = "node,x1,x2,log1p_demand,degree\n10,0,3,0,1\n11,0,4,0.5,2\n12,1,4,2.5,2\n13,2,5,1,1\n14,9,9,7,0\n"
	roadMap = "node,degree,neighbours_0based_semicolon\n10,1,11\n11,3,10;11;12\n12,3,10;11;13\n13,1,12\n14,0,\n"
)

func townFiles(t *testing.T, regions, roads string) (spec string) {
	t.Helper()
	second := filepath.Join(t.TempDir(), "roads.csv")
	if err := os.WriteFile(second, []byte(roads), 0o600); err != nil {
		t.Fatal(err)
	}
	return "traffic:file=" + tableFile(t, regions) + ",roads=" + second
}

func TestTrafficFamily(t *testing.T) {
	spec := townFiles(t, regions, roadMap)
	f, err := Kinds().Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != spec || f.MaxMoves != 1 {
		t.Errorf("%q with max_moves %d is called %q", spec, f.MaxMoves, f.Name)
	}
	drawn := mustDraw(t, spec+",max_moves=2", 1, 3)
	l := drawn.Space.Listing()
	if l.Len() != 4 || drawn.MaxMoves != 2 || drawn.Goal != task.Maximize || len(drawn.Members) != 3 {
		t.Fatalf("%d regions, %+v", l.Len(), drawn)
	}
	for i, want := range []struct {
		x1, x2    int64
		demand    float64
		neighbors []int
	}{{0, 3, 0, []int{1, 2}}, {0, 4, 0.5, []int{0, 2}}, {1, 4, 2.5, []int{0, 1, 3}}, {2, 5, 1, []int{2}}} {
		d := l.Design(i)
		if d.Int("x1") != want.x1 || d.Int("x2") != want.x2 || !slices.Equal(l.Neighbors(i), want.neighbors) {
			t.Errorf("region %d: %v, neighbors %v", i, d, l.Neighbors(i))
		}
		for k, m := range drawn.Members {
			if got := m.Objective.Value(d); got != want.demand || m.Objective.Optimum != 2.5 || m.Objective.Noise != 0 || !m.Counts {
				t.Errorf("member %d at %v: %g, %+v", k, d, got, m)
			}
		}
	}
	// The box is that of the regions on roads, not of the whole file.
	for i, p := range drawn.Space.Parameters() {
		if want := [][2]float64{{0, 2}, {3, 5}}[i]; p.Kind != task.Int || p.Low != want[0] || p.High != want[1] {
			t.Errorf("%+v, want %v", p, want)
		}
	}
}

func TestTrafficContentIsThatOfTheFiles(t *testing.T) {
	content := func(regions, roads string) string {
		f, err := Kinds().Parse(townFiles(t, regions, roads))
		if err != nil {
			t.Fatal(err)
		}
		return f.Content
	}
	first := content(regions, roadMap)
	if first == "" || first != content(regions, roadMap) {
		t.Errorf("content %q, elsewhere %q", first, content(regions, roadMap))
	}
	if first == content(strings.Replace(regions, "2.5", "2.6", 1), roadMap) || first == content(regions, strings.Replace(roadMap, "10;11;13", "11;13", 1)) {
		t.Error("other files have the same content")
	}
}

func TestTrafficRefuses(t *testing.T) {
	for name, test := range map[string]struct{ regions, roads, say string }{
		"nothing":         {"", roadMap, "there is no line with the names of columns"},
		"no column":       {strings.Replace(regions, "x2", "y", 1), roadMap, "there is no column x2"},
		"odd place":       {strings.Replace(regions, "0,4,", "0,4.5,", 1), roadMap, `line 3: "4.5" is no whole number`},
		"odd demand":      {strings.Replace(regions, "2.5", "NaN", 1), roadMap, `line 4: log1p_demand "NaN"`},
		"twice":           {regions + "10,5,5,0,0\n", roadMap, "line 7: node 10 is there twice"},
		"two in a place":  {strings.Replace(regions, "0,4,", "0,3,", 1), roadMap, "keys file and roads: task: design 2: the design is that of row 1"},
		"ragged":          {regions + "1,2\n", roadMap, "wrong number of fields"},
		"no roads":        {regions, "node,neighbours_0based_semicolon\n", "no two regions are joined"},
		"nowhere":         {regions, roadMap + "15,1,10\n", "node 15 is on a road and is no region"},
		"odd node":        {regions, roadMap + "a,1,10\n", `line 7: node "a"`},
		"odd neighbor":    {regions, roadMap + "15,1,10; 11\n", `line 7: neighbor " 11"`},
		"no road columns": {regions, regions, "there is no column neighbours_0based_semicolon"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Kinds().Parse(townFiles(t, test.regions, test.roads))
			if err == nil || !strings.Contains(err.Error(), test.say) || !strings.Contains(err.Error(), "key") {
				t.Errorf("error %v does not say %q", err, test.say)
			}
		})
	}
	for spec, say := range map[string]string{
		"traffic":                                "key file is missing",
		"traffic:file=" + tableFile(t, regions):  "key roads is missing",
		"traffic:file=/nowhere.csv,roads=/a.csv": "key file: open /nowhere.csv",
	} {
		if _, err := Kinds().Parse(spec); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// The published data are what the paper says of them: 2,506 regions, some without demand.
// All are joined by roads.
func TestTrafficData(t *testing.T) {
	const folder = "../../../shared/data/traffic"
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("without the published data: %v", err)
	}
	city, err := readCity(filepath.Join(folder, "traffic_demand.csv"), filepath.Join(folder, "neighbours.csv"))
	if err != nil {
		t.Fatal(err)
	}
	l := city.space.Listing()
	zero, edges, most := 0, 0, 0
	for i, demand := range city.demand {
		if demand == 0 {
			zero++
		}
		edges, most = edges+len(l.Neighbors(i)), max(most, len(l.Within(i, 2)))
	}
	if l.Len() != 2506 || zero != 1130 || slices.Max(city.demand) != 4.564348299 || edges != 2*4634 || most != 21 {
		t.Errorf("%d regions, %d without demand, at most %g, %d ends of roads, at most %d regions within two steps", l.Len(), zero, slices.Max(city.demand), edges, most)
	}
	if all := l.Within(0, l.Len()); len(all) != l.Len()-1 {
		t.Errorf("from region 0 %d others can be reached", len(all))
	}
	for i, p := range city.space.Parameters() {
		if p.Low != 0 || p.High != []float64{49, 99}[i] {
			t.Errorf("%+v", p)
		}
	}
}
