package trialcmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/strategy"
)

// Flags of kept.
const (
	attributeFlag = "attribute"
	tagFlag       = "tag"
	fileFlag      = "file"
)

// kept are the flags about what a trial keeps for its user.
type kept struct {
	attributes []string
	tags       []string
	files      []string
	digest     bool
}

func (k *kept) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&k.attributes, attributeFlag, nil, "`NAME=TEXT` that the trial keeps for you, such as commit=1f2e3d, repeatable; peers never receive it")
	flags.StringArrayVar(&k.tags, tagFlag, nil, "`TAG` that the trial keeps for you, repeatable")
	flags.StringArrayVar(&k.files, fileFlag, nil, "`PATH` or URL of a file of the evaluation, such as a checkpoint, repeatable; the node does not read it")
	flags.BoolVar(&k.digest, "sha256", false, "read the files of --file, and keep their SHA-256 digests")
}

// annotations reads the flags.
func (k *kept) annotations() (of strategy.Annotations, err error) {
	for _, given := range k.attributes {
		name, text, found := strings.Cut(given, "=")
		if !found {
			return of, base.Usagef("--attribute %.100q: expected NAME=TEXT, as in commit=1f2e3d", given)
		}
		if of.Attributes == nil {
			of.Attributes = map[string]string{}
		}
		if _, twice := of.Attributes[name]; twice {
			return of, base.Usagef("--attribute: %.100q is given twice", name)
		}
		of.Attributes[name] = text
	}
	of.Tags = k.tags
	for _, path := range k.files {
		file := strategy.File{Path: path}
		if k.digest {
			if file.SHA256, err = digestOf(path); err != nil {
				return of, base.Usagef("--sha256: %w", err)
			}
		}
		of.Files = append(of.Files, file)
	}
	if k.digest && len(k.files) == 0 {
		return of, base.Usagef("--sha256: there is no --file; expected one")
	}
	if _, err := strategy.Adding(of).Apply(strategy.Annotations{}, time.Time{}); err != nil {
		return of, base.BadUsage(err)
	}
	return of, nil
}

// digestOf returns the SHA-256 digest of a file in hexadecimal digits.
func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// put adds annotations to the body of a request.
func put(body base.Object, of strategy.Annotations) {
	if len(of.Attributes) > 0 {
		body["attributes"] = of.Attributes
	}
	if len(of.Tags) > 0 {
		body["tags"] = of.Tags
	}
	if len(of.Files) > 0 {
		body["files"] = of.Files
	}
}
