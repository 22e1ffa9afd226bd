package run

import "testing"

func TestCheckMetricsAddress(t *testing.T) {
	for address, good := range map[string]bool{
		"": true, ":0": true, "127.0.0.1:9464": true, "[::1]:9464": true, "localhost:65535": true,
		"127.0.0.1": false, "9464": false, "127.0.0.1:http": false, ":65536": false, ":-1": false, "::1:9464": false, ":": false,
	} {
		if err := checkMetricsAddress(address); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
}
