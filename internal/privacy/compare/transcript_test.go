package compare

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/cloudflare/circl/group"
)

// TestTranscriptsHideTheNumbers trains a classifier on 60 transcripts, half of them with labels.
// On 30 without labels the standard error of the AUC of a random guess is 0.1. The limit of 0.3
// is three of these; a classifier whose AUC is 0.98 exceeds it with 999 seeds of 1,000.
func TestTranscriptsHideTheNumbers(t *testing.T) { checkTranscripts(t, 60, 0.3) }

// checkTranscripts reports an error if a classifier, trained on half of the transcripts,
// distinguishes the losing party's numbers in the other half: its AUC differs from 0.5 by more
// than limit. The threshold's party compares two values that do not exceed the threshold. The
// value's party compares two thresholds that are exceeded. With repeated secrets the classifier
// must succeed, which shows its power.
func checkTranscripts(t *testing.T, transcripts int, limit float64) {
	numbers := [2]uint64{1<<40 + 1, 1<<62 - 3} // few ones and many, at other places
	c, winning, err := Begin(math.MaxUint64, conversation, source(20))
	if err != nil {
		t.Fatal(err)
	}
	begun := func(number uint64, random *rand.ChaCha8) []float64 {
		_, offer, err := Begin(number, conversation, random)
		if err != nil {
			t.Error(err)
			return nil
		}
		return statistics(offer)
	}
	answered := func(number uint64, random *rand.ChaCha8) []float64 {
		answer, err := Answer(number, conversation, winning, random)
		if err != nil {
			t.Error(err)
			return nil
		}
		first, second := answer[:OfferBytes], answer[OfferBytes:]
		theirs, err := parse("", second)
		if err != nil {
			t.Error(err)
			return nil
		}
		raise(theirs, c.secret)
		pair := slices.IndexFunc(theirs, func(p group.Element) bool { return indexOf(first, encoding(p)) >= 0 })
		if pair < 0 {
			t.Error("no pair")
			return nil
		}
		return slices.Concat(statistics(first), statistics(second), []float64{float64(pair), float64(indexOf(first, encoding(theirs[pair])))})
	}
	again := func(number uint64, _ *rand.ChaCha8) []float64 { return begun(number, source(22)) }
	for name, c := range map[string]struct {
		see           view
		count         int
		distinguishes bool
	}{
		"a value that does not exceed": {begun, transcripts, false},
		"a threshold that is exceeded": {answered, transcripts, false},
		"the same secrets again":       {again, 40, true},
	} {
		auc := c.see.auc(numbers, c.count)
		if found := math.Abs(auc-0.5) > limit; found != c.distinguishes {
			t.Errorf("%s: AUC %.3f", name, auc)
		} else {
			t.Logf("%s: AUC %.3f", name, auc)
		}
	}
}

// view returns the features that one party sees and computes in a comparison of a number.
type view func(number uint64, random *rand.ChaCha8) []float64

// statistics returns the features of a list: the count of each bit over its elements, and the
// leading byte of each element.
func statistics(list []byte) []float64 {
	features := make([]float64, 8*ElementBytes+Bits)
	for i := range Bits {
		for j, b := range at(list, i) {
			for bit := range 8 {
				features[8*j+bit] += float64(b >> bit & 1)
			}
		}
		features[8*ElementBytes+i] = float64(at(list, i)[0])
	}
	return features
}

func encoding(p group.Element) []byte { return list([]group.Element{p}) }

func indexOf(list, encoded []byte) int {
	for i := range Bits {
		if bytes.Equal(at(list, i), encoded) {
			return i
		}
	}
	return -1
}

// auc returns the area under the ROC curve of a classifier of two numbers: the nearest centroid,
// with each feature in units of its standard deviation. The first half is the training set.
func (v view) auc(numbers [2]uint64, count int) float64 {
	seen := make([][]float64, count)
	var running sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for i := worker; i < count; i += runtime.GOMAXPROCS(0) {
				seen[i] = v(numbers[i%2], rand.NewChaCha8([32]byte{23, byte(i), byte(i >> 8)}))
			}
		})
	}
	running.Wait()
	features := len(seen[0])
	var centroids [2][]float64
	variance := make([]float64, features)
	for label := range centroids {
		centroids[label] = make([]float64, features)
		for i := label; i < count/2; i += 2 {
			for j, x := range seen[i] {
				centroids[label][j] += x / float64(count/4)
			}
		}
	}
	for i := range count / 2 {
		for j, x := range seen[i] {
			variance[j] += (x - centroids[i%2][j]) * (x - centroids[i%2][j]) / float64(count/2)
		}
	}
	var scores [2][]float64
	for i := count / 2; i < count; i++ {
		score := 0.0
		for j, x := range seen[i] {
			score += x * (centroids[1][j] - centroids[0][j]) / (variance[j] + 1e-9)
		}
		scores[i%2] = append(scores[i%2], score)
	}
	won := 0.0
	for _, low := range scores[0] {
		for _, high := range scores[1] {
			switch {
			case high > low:
				won++
			case high == low:
				won += 0.5
			}
		}
	}
	return won / float64(len(scores[0])*len(scores[1]))
}
