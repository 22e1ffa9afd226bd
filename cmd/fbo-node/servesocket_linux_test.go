package main_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/control"
)

// Another user cannot reach the socket, even where the directory lets everybody in.
func TestAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can try it as another user")
	}
	dir := shortTempDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	startServe(t, dir)
	mustRequest(t, http.StatusOK, socketClient(dir), "GET", "/v1/node", nil)
	const nobody = 65534
	path := filepath.Join(dir, control.Socket)
	refused := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, and its user with it
		if err := syscall.Setfsuid(nobody); err != nil {
			refused <- err
			return
		}
		socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			refused <- err
			return
		}
		defer syscall.Close(socket)
		refused <- syscall.Connect(socket, &syscall.SockaddrUnix{Name: path})
	}()
	if err := <-refused; !errors.Is(err, syscall.EACCES) {
		t.Errorf("another user gets %v, want %v", err, syscall.EACCES)
	}
}
