// Package fedhpo tests the conversion of tables of FedHPO-B. It needs Python 3.10 or newer without packages.
package fedhpo

import (
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/examples/internal/interpreter"
)

// writeTable writes a table of the form of FedHPO-B: two learning rates, three weight decays and one batch size,
// two seeds, two fractions of clients, four rounds. The accuracy is best at a learning rate of best in the third round.
func writeTable(t *testing.T, folder, dataset string, best float64, result func(rate, decay float64) string) {
	t.Helper()
	dir := filepath.Join(folder, dataset, "avg")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, "tabular.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content := gzip.NewWriter(file)
	fmt.Fprintln(content, "sample_client,lr,wd,batch,seed,result")
	for _, clients := range []float64{0.2, 1} {
		for _, rate := range []float64{0.01, 0.1, 1} {
			for _, decay := range []float64{0, 0.5, 1} {
				for _, seed := range []float64{1, 2} {
					text := result(rate, decay)
					if text == "" {
						accuracy := clients * (0.9 - 0.1*math.Abs(math.Log10(rate/best)) - 0.1*decay + 0.01*(seed-1.5))
						text = fmt.Sprintf("{'val_avg_loss': [2.0, 1.0, 0.5, 0.7], 'val_acc': [0.1, 0.2, %g, 0.99], "+
							"'test_acc_fair': [], 'tol_time': [datetime.timedelta(seconds=%d)]}", accuracy, 10)
					}
					fmt.Fprintf(content, "%g,%g,%g,32.0,%g,\"%s\"\n", clients, rate, decay, seed, text)
				}
			}
		}
	}
	if err := content.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestConvertedTablesSimulate(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: it builds fbo-node")
	}
	python, dir := interpreter.Need(t), t.TempDir()
	for i, dataset := range []string{"31@openml", "53@openml", "3917@openml"} {
		writeTable(t, filepath.Join(dir, "mlp"), dataset, []float64{0.01, 0.1, 0.1}[i], func(rate, decay float64) string {
			if i == 0 && rate == 1 && decay == 1 {
				return "{'val_avg_loss': [nan, nan], 'val_acc': [nan, nan], 'tol_time': [datetime.timedelta(0)]}"
			}
			return ""
		})
	}
	out := filepath.Join(dir, "out")
	printed, err := exec.CommandContext(t.Context(), python, "convert.py", filepath.Join(dir, "mlp"), "--out", out).CombinedOutput()
	if want := "3 members, 52 measurements of 2 hyperparameters"; err != nil || !strings.Contains(string(printed), want) {
		t.Fatalf("%v: %s, expected %s", err, printed, want)
	}
	text, err := os.ReadFile(filepath.Join(out, "task.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"goal: maximize", "name: lr, type: float, low: 0.01, high: 1.0, scale: log", "name: wd, type: float, low: 0.0, high: 1.0}"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the task file lacks %q:\n%s", want, text)
		}
	}
	table := "table:task=" + filepath.Join(out, "task.yaml") + ",file=" + filepath.Join(out, "table.csv.gz")
	simulated, err := exec.CommandContext(t.Context(), "go", "run", "../../cmd/fbo-node", "simulate", "--family", table,
		"--agents", "3", "--evals", "9", "--repeats", "2", "--strategy", "logei,peer-prior", "--out", filepath.Join(dir, "results")).CombinedOutput()
	if err != nil || !strings.Contains(string(simulated), "3 agents, 9 evaluations each") {
		t.Fatalf("%v: %s", err, simulated)
	}
}

func TestUnusableTablesAreOneLine(t *testing.T) {
	python := interpreter.Need(t)
	for name, c := range map[string]struct {
		result string
		args   []string
		want   string
	}{
		"code":    {"{'val_acc': [__import__('os').getpid()], 'val_avg_loss': [1.0]}", nil, "tabular.csv.gz: line 2: malformed"},
		"metric":  {"{'val_acc': [0.5], 'val_avg_loss': [1.0]}", []string{"--metric", "val_f1"}, "no metric val_f1, expected one of val_acc, val_avg_loss"},
		"nothing": {"{'val_acc': [nan], 'val_avg_loss': [nan]}", nil, "has a finite val_acc"},
		"none":    {"", []string{"--algorithm", "prox"}, "expected files DATASET/prox/tabular.csv.gz, found none"},
		"clients": {"", []string{"--sample-client", "0.7"}, "no row with sample_client 0.7"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeTable(t, filepath.Join(dir, "mlp"), "31@openml", 0.1, func(float64, float64) string { return c.result })
			args := append([]string{"convert.py", filepath.Join(dir, "mlp"), "--out", filepath.Join(dir, "out"), "--sample-client", "0.2"}, c.args...)
			printed, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
			if err == nil || !strings.Contains(string(printed), c.want) || strings.Count(string(printed), "\n") != 1 {
				t.Errorf("%v: %s, expected one line with %q", err, printed, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
				t.Error("it has written something")
			}
		})
	}
}
