package base

import (
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// linkTime is the time after which the file with a link is removed; the browser reads it at once.
const linkTime = 10 * time.Second

// OpenBrowser opens a link in a browser if there is a screen, and does nothing otherwise: callers
// print the link in any case. Other users of the machine can see the arguments of programs;
// therefore the link, which contains the key, is in a file of this user.
func OpenBrowser(link string) {
	var program []string
	switch runtime.GOOS {
	case "darwin":
		program = []string{"open"}
	case "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
		program = []string{"xdg-open"}
	}
	dir, err := os.MkdirTemp("", "fbo-page-")
	if err != nil {
		return
	}
	file := filepath.Join(dir, "page.html")
	text := `<!doctype html><meta http-equiv="refresh" content="0; url=` + html.EscapeString(link) + `">`
	time.AfterFunc(linkTime, func() { os.RemoveAll(dir) })
	if os.WriteFile(file, []byte(text), 0o600) != nil {
		return
	}
	command := exec.Command(program[0], append(program[1:], file)...)
	if command.Start() == nil {
		go command.Wait()
	}
}
