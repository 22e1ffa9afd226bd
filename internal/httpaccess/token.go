package httpaccess

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"

	"github.com/fbo-node/fbo/internal/datadir"
)

// minToken is the minimum length of a token. A user may have written the token.
const minToken = 20

// maxToken is the maximum number of bytes of the file.
const maxToken = 1024

// LoadToken reads the token from a file. If there is no file, it creates a token and the file. It
// refuses a file that other users can read.
func LoadToken(path string) (token string, err error) {
	token, err = readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	token = rand.Text()
	if err := datadir.CreateOnce(path, []byte(token+"\n")); errors.Is(err, fs.ErrExist) { // another process has created the file in the meantime
		return readToken(path)
	} else if err != nil {
		return "", err
	}
	return token, nil
}

func readToken(path string) (string, error) {
	file, err := datadir.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s is readable by others (mode %04o): expected 0600; remove it, and the next start makes another token", path, info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(file, maxToken+1))
	if err != nil {
		return "", err
	}
	token, err := parseToken(string(data))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return token, nil
}

// parseToken returns the token in the content of a file. Its error does not quote the content.
func parseToken(text string) (string, error) {
	token := strings.TrimSpace(text)
	visible := !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
	if len(token) < minToken || len(text) > maxToken || !visible {
		return "", fmt.Errorf("no token: expected %d to %d visible ASCII characters in one line; remove the file, and the next start makes another token", minToken, maxToken)
	}
	return token, nil
}
