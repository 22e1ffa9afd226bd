package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	signatureFile = sumsFile + ".sig"
	// signatureNamespace keeps signatures of other things, such as commits, from being accepted here.
	signatureNamespace = "fbo-release"
)

// mustBeSigningKey returns an error unless a file has an Ed25519 key of OpenSSH. It is called before
// the build, which takes minutes.
func mustBeSigningKey(ctx context.Context, key string) error {
	if _, err := os.Stat(key); err != nil {
		return fmt.Errorf("--sign-key: %w", err)
	}
	out, err := exec.CommandContext(ctx, "ssh-keygen", "-l", "-f", key).CombinedOutput()
	if err != nil {
		return fmt.Errorf("--sign-key %s: expected an Ed25519 key of OpenSSH: %w: %s", key, err, strings.TrimSpace(string(out)))
	}
	if text := strings.TrimSpace(string(out)); !strings.HasSuffix(text, "(ED25519)") {
		return fmt.Errorf("--sign-key %s: expected an Ed25519 key, got %s", key, text)
	}
	return nil
}

// sign writes the signature of a folder's file of checksums. ssh-keygen asks for the key's
// passphrase, and also signs with a public key whose private half an agent has.
func sign(ctx context.Context, dir, key string) error {
	sums := filepath.Join(dir, sumsFile)
	c := exec.CommandContext(ctx, "ssh-keygen", "-Y", "sign", "-f", key, "-n", signatureNamespace, sums)
	c.Stdin, c.Stderr = os.Stdin, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("ssh-keygen -Y sign %s: %w", sums, err)
	}
	return nil
}
