package webpage

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

func ask(method, path string, header ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestFilesAreServedAsWhatTheyAre(t *testing.T) {
	for path, kind := range map[string]string{
		"/":                      "text/html; charset=utf-8",
		"/page/main.js":          "text/javascript; charset=utf-8",
		"/page/page.css":         "text/css; charset=utf-8",
		"/page/icon.svg":         "image/svg+xml",
		"/page/vendor/preact.js": "text/javascript; charset=utf-8",
		"/page/vendor/licenses/preact-11.2.0.txt": "text/plain; charset=utf-8",
	} {
		got := ask(http.MethodGet, path)
		if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != kind || got.ContentLength <= 0 {
			t.Errorf("%s: status %d, type %q, %d bytes", path, got.StatusCode, got.Header.Get("Content-Type"), got.ContentLength)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-cache",
		} {
			if got.Header.Get(name) != want {
				t.Errorf("%s: %s is %q, wanted %q", path, name, got.Header.Get(name), want)
			}
		}
	}
}

func TestEveryFileHasAType(t *testing.T) {
	err := fs.WalkDir(files, "page", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && kinds[path.Ext(name)] == "" {
			t.Errorf("%s has no media type", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNotThereIsRefused(t *testing.T) {
	for _, path := range []string{"/page/", "/page", "/page/index.html", "/page/none.js", "/index.html", "/webpage.go", "/page/../webpage.go", "/page/vendor"} {
		if got := ask(http.MethodGet, path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", path, got.StatusCode)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		if got := ask(method, "/"); got.StatusCode != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: status %d, Allow %q", method, got.StatusCode, got.Header.Get("Allow"))
		}
	}
}

func TestAFileThatHasNotChangedIsNotSentAgain(t *testing.T) {
	tag := ask(http.MethodHead, "/").Header.Get("ETag")
	if tag == "" {
		t.Fatal("there is no ETag")
	}
	for held, want := range map[string]int{
		tag: http.StatusNotModified, "W/" + tag: http.StatusNotModified, `"other", ` + tag: http.StatusNotModified, "*": http.StatusNotModified,
		`"other"`: http.StatusOK,
	} {
		if got := ask(http.MethodGet, "/", "If-None-Match", held); got.StatusCode != want {
			t.Errorf("If-None-Match %s: status %d", held, got.StatusCode)
		}
	}
	if other := ask(http.MethodHead, "/page/main.js").Header.Get("ETag"); other == tag {
		t.Error("two files have one ETag")
	}
}

// What the policy would refuse, and what would let a text become an element, is not in the
// page's own files.
func TestThePageKeepsItsPolicy(t *testing.T) {
	refused := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerously|\beval\(|new Function|https?://[a-z]`)
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script>|javascript:`)
	var size int
	err := fs.WalkDir(files, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		size += len(data)
		if strings.HasPrefix(name, "page/vendor/") {
			return err
		}
		if found := refused.FindString(strings.ReplaceAll(string(data), "http://www.w3.org/", "")); found != "" {
			t.Errorf("%s has %q", name, found)
		}
		if found := inline.FindString(string(data)); path.Ext(name) == ".html" && found != "" {
			t.Errorf("%s has %q", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if most := 300_000; size > most {
		t.Errorf("the page has %d bytes, more than %d", size, most)
	}
}
