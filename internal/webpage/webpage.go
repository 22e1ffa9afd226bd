// Package webpage is the page about a node: files for browsers, without any data. What the
// page shows it asks of the HTTP interface, with a key that it is given in its address.
package webpage

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed page
var files embed.FS

// policy lets the page load and ask what comes from its own server alone, be in no frame of
// another page, and run no script that is not a file of this package.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

type file struct {
	kind string // its media type
	tag  string // its ETag
	data []byte
}

// kinds are the media types by the ends of names: what the system says of them may be wrong.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

// Handler serves the page at / and its files below /page/, for GET and HEAD. Any other path
// is 404.
func Handler() http.Handler {
	all := map[string]file{}
	err := fs.WalkDir(files, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		sum := sha256.Sum256(data)
		all["/"+name] = file{kinds[path.Ext(name)], `"` + hex.EncodeToString(sum[:16]) + `"`, data}
		return err
	})
	if err != nil {
		panic("webpage: " + err.Error()) // the files are in the program
	}
	all["/"] = all["/page/index.html"]
	delete(all, "/page/index.html") // it has one address
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, all) })
}

func serve(w http.ResponseWriter, r *http.Request, all map[string]file) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache") // ask whether it has changed
	f, ok := all[r.URL.Path]
	if !ok {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "expected GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	h.Set("ETag", f.tag)
	if unchanged(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(f.data)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(f.data) // the client may have closed the connection
	}
}

// unchanged reports whether the client already has the file.
func unchanged(held, tag string) bool {
	for one := range strings.SplitSeq(held, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}
