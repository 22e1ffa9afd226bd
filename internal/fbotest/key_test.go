package fbotest

import "testing"

func TestKeysDiffer(t *testing.T) {
	seen := map[string]int{}
	for _, n := range []int{0, 1, 2, 255, 256, 257, 65535} {
		raw, err := Key(t, n).Raw()
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[string(raw)]; ok {
			t.Errorf("keys %d and %d are equal", n, other)
		}
		seen[string(raw)] = n
		if !Key(t, n).Equals(Key(t, n)) {
			t.Errorf("key %d differs on the second call", n)
		}
	}
}
