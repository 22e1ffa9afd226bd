package httpaccess

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Large bodies wait for each other, small ones do not, and all are answered.
func TestBodiesShareABudget(t *testing.T) {
	const large = 1 << 20
	var mu sync.Mutex
	var underWay, most int64
	hold, held := make(chan bool), make(chan bool, 1)
	handler := Policy{MaxBody: 2 * large, Bodies: NewBudget(3 * large)}.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			held <- true
			<-hold
			return
		}
		mu.Lock()
		underWay += max(r.ContentLength, 0)
		most = max(most, underWay)
		mu.Unlock()
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		mu.Lock()
		underWay -= max(r.ContentLength, 0)
		mu.Unlock()
	}))
	server := httptest.NewServer(handler)
	defer server.Close()
	post := func(path string, body io.Reader) {
		response, err := http.Post(server.URL+path, "application/json", body)
		if err != nil {
			t.Error(err)
			return
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	sized := func(size int) io.Reader { return bytes.NewReader(make([]byte, size)) }
	var asking sync.WaitGroup
	for range 16 {
		asking.Go(func() { post("/", sized(large)) })
	}
	asking.Wait()
	if most > 3*large || most < large {
		t.Errorf("%d bytes of bodies were under way at once, expected at most %d", most, 3*large)
	}
	for range 2 { // take the budget: 2 and 1 of 3
		asking.Go(func() { post("/hold", sized(large+large/2)) })
	}
	<-held
	<-held
	post("/", sized(freeBody))
	unmeasured := func(size int) {
		post("/", struct{ io.Reader }{sized(size)}) // of a length that is not sent
	}
	unmeasured(freeBody)
	asking.Go(func() { unmeasured(large) }) // waits for the others
	close(hold)
	asking.Wait()
}
