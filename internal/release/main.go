package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// versions matches the versions of semver.org, except those with build metadata, which Go does not
// accept as versions.
var versions = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("release", pflag.ContinueOnError)
	preparing := flags.Bool("prepare", false, "make the commit of VERSION: date its changes, set the version of the Python package; build nothing")
	snapshot := flags.Bool("snapshot", false, "build the working tree as it is, without a tag or a section of the changelog")
	twice := flags.Bool("twice", false, "build a second time elsewhere, with an empty build cache, and compare the bytes")
	names := flags.StringSlice("platform", nil, "build for this platform only (may be repeated)")
	wheels := flags.Bool("wheels", true, "build the wheels, where python/build_wheels.py exists")
	python := flags.String("python", "python3", "the Python that builds the wheels, with pip")
	key := flags.String("sign-key", "", "sign SHA256SUMS with this Ed25519 key of OpenSSH (default: no signature)")
	out := flags.String("out", "dist", "the folder to make; it must not exist or be empty")
	flags.SetOutput(io.Discard) // main prints errors
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			fmt.Printf("go run ./internal/release VERSION\n%s", flags.FlagUsages())
		}
		return err
	}
	if flags.NArg() != 1 || !versions.MatchString(flags.Arg(0)) {
		return fmt.Errorf("one VERSION is needed, such as 0.1.0 or 0.2.0-rc.1, without a v; got %q", flags.Args())
	}
	if *preparing {
		var others []string
		flags.Visit(func(f *pflag.Flag) {
			if f.Name != "prepare" {
				others = append(others, "--"+f.Name)
			}
		})
		if len(others) > 0 {
			return fmt.Errorf("--prepare with %s: expected --prepare only, since it builds nothing", strings.Join(others, ", "))
		}
		return prepare(ctx, ".", flags.Arg(0), time.Now())
	}
	wanted, err := platformsOf(*names)
	if err != nil {
		return err
	}
	if err := mustBeEmpty(*out); err != nil {
		return err
	}
	if *key != "" {
		if err := mustBeSigningKey(ctx, *key); err != nil {
			return err
		}
	}
	source, err := look(ctx, ".", flags.Arg(0), *snapshot)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "fbo-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)

	b := builder{source: source, platforms: wanted, everything: len(*names) == 0, temp: temp}
	if *wheels {
		b.python = *python
	}
	if b.sbom, err = sbomTool(ctx, temp); err != nil {
		return err
	}
	if err := b.build(ctx, *out, ""); err != nil {
		return errors.Join(err, os.RemoveAll(*out))
	}
	if *twice {
		if err := b.again(ctx, *out); err != nil {
			return err
		}
	}
	if *key == "" {
		return nil
	}
	return sign(ctx, *out, *key)
}

// again builds a second time with an empty build cache, and returns an error if bytes differ from
// those in a folder.
func (b builder) again(ctx context.Context, out string) error {
	fmt.Println("once more, with an empty build cache …")
	again := filepath.Join(b.temp, "again")
	if err := b.build(ctx, again, filepath.Join(b.temp, "cache")); err != nil {
		return err
	}
	if err := same(out, again); err != nil {
		return err
	}
	fmt.Println("both times the same bytes")
	return nil
}

// mustBeEmpty returns an error unless a folder is empty or missing.
func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty; remove it, or name another one by --out", dir)
	}
	return nil
}

// same returns an error if the files of two builds differ.
func same(one, other string) error {
	a, err := sumsOf(one)
	if err != nil {
		return err
	}
	b, err := sumsOf(other)
	if err != nil {
		return err
	}
	var differ []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			differ = append(differ, s.name)
		}
	}
	for _, s := range b {
		if !slices.ContainsFunc(a, func(o sum) bool { return o.name == s.name }) {
			differ = append(differ, s.name)
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("built twice, these differ: %q", differ)
	}
	return nil
}
