package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is a file for an archive.
type file struct {
	name       string // path in the archive, with slashes
	data       []byte
	executable bool
}

func (f file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// read returns the file at the path from, with the given name in an archive.
func read(from, name string) (file, error) {
	info, err := os.Lstat(from)
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s is a %v; releases hold regular files only", from, info.Mode().Type())
	}
	data, err := os.ReadFile(from)
	return file{name, data, info.Mode()&0o111 != 0}, err
}

// pack writes an archive with the files in one folder. It is a zip or a tar.gz, depending on its
// name. Its bytes depend only on the arguments, and not on the order of the files.
func pack(archive, folder string, at time.Time, files []file) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	write := packTar
	if strings.HasSuffix(archive, ".zip") {
		write = packZip
	}
	if err := write(&b, folder, at, files); err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	return os.WriteFile(archive, b.Bytes(), 0o644)
}

func packTar(w io.Writer, folder string, at time.Time, files []file) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(zipped)
	for _, f := range files {
		header := tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(folder, f.name), Size: int64(len(f.data)), Mode: int64(f.mode()), ModTime: at,
		}
		if err := t.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

func packZip(w io.Writer, folder string, at time.Time, files []file) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, f := range files {
		header := zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode())
		entry, err := z.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// sumsFile is the name of the file with checksums, for `sha256sum --check`.
const sumsFile = "SHA256SUMS"

// sum is the SHA-256 of a file in hexadecimal digits, with the name of the file.
type sum struct{ digits, name string }

// sumsOf returns the checksums of the files in a folder, sorted by name. It omits the file of
// checksums itself, and its signature.
func sumsOf(dir string) (all []sum, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.Name() == sumsFile || entry.Name() == signatureFile {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, sum{fmt.Sprintf("%x", sha256.Sum256(data)), entry.Name()})
	}
	return all, nil
}

// writeSums writes the file of checksums of a folder.
func writeSums(dir string) error {
	all, err := sumsOf(dir)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, s := range all {
		fmt.Fprintf(&text, "%s  %s\n", s.digits, s.name)
	}
	return os.WriteFile(filepath.Join(dir, sumsFile), []byte(text.String()), 0o644)
}
