package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A signature is verified by the command that docs/releases.md has, and fails for other sums,
// another key and another namespace.
func TestSignaturesAreThoseOfOpenSSH(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("needs ssh-keygen")
	}
	dir, out := t.TempDir(), t.TempDir()
	generate := func(name, kind string) string {
		key := filepath.Join(dir, name)
		if text, err := exec.Command("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", name, "-f", key).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, text)
		}
		return key
	}
	key, other, ecdsa := generate("release", "ed25519"), generate("other", "ed25519"), generate("ecdsa", "ecdsa")
	mustFail(t, mustBeSigningKey(t.Context(), key), "")
	mustFail(t, mustBeSigningKey(t.Context(), ecdsa), "expected an Ed25519 key, got ")
	mustFail(t, mustBeSigningKey(t.Context(), filepath.Join(dir, "none")), "no such file")
	write(t, filepath.Join(dir, "text"), "no key")
	mustFail(t, mustBeSigningKey(t.Context(), filepath.Join(dir, "text")), "expected an Ed25519 key of OpenSSH")
	mustFail(t, run(t.Context(), []string{"0.1.0", "--out", filepath.Join(dir, "dist"), "--sign-key", ecdsa}), "expected an Ed25519 key")

	write(t, filepath.Join(out, "a"), "a")
	if err := writeSums(out); err != nil {
		t.Fatal(err)
	}
	if err := sign(t.Context(), out, key); err != nil {
		t.Fatal(err)
	}
	signers := filepath.Join(dir, "signers")
	verify := func(by, namespace string, sums []byte) error {
		write(t, signers, "release@fbo "+string(contentsOf(t, by+".pub")))
		c := exec.Command("ssh-keygen", "-Y", "verify", "-f", signers, "-I", "release@fbo", "-n", namespace,
			"-s", filepath.Join(out, signatureFile))
		c.Stdin = bytes.NewReader(sums)
		return c.Run()
	}
	sums := contentsOf(t, filepath.Join(out, sumsFile))
	if err := verify(key, signatureNamespace, sums); err != nil {
		t.Errorf("the signature is refused: %v", err)
	}
	for what, err := range map[string]error{
		"other sums":        verify(key, signatureNamespace, append([]byte("0"), sums...)),
		"another key":       verify(other, signatureNamespace, sums),
		"another namespace": verify(key, "git", sums),
	} {
		if err == nil {
			t.Errorf("the signature is accepted for %s", what)
		}
	}
	// The sums do not depend on the signature.
	if err := writeSums(out); err != nil || !bytes.Equal(contentsOf(t, filepath.Join(out, sumsFile)), sums) || strings.Contains(string(sums), ".sig") {
		t.Errorf("sums changed: %v, %s", err, sums)
	}
}

func TestVersionsOfPythonPackages(t *testing.T) {
	for version, want := range map[string]string{
		"0.1.0": "0.1.0", "0.1.0-rc.1": "0.1.0rc1", "1.2.0-alpha.0": "1.2.0a0", "1.2.0-beta.12": "1.2.0b12",
	} {
		if got, err := pep440(version); got != want || err != nil {
			t.Errorf("%s is %q, %v; want %q", version, got, err, want)
		}
	}
	for _, version := range []string{"0.1.0-rc", "0.1.0-rc1", "0.1.0-pre.1", "0.1.0-rc.01"} {
		_, err := pep440(version)
		mustFail(t, err, "has no form for Python packages")
	}
}
