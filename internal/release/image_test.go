package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The image of the release starts as that of the Dockerfile does, and has the same paths.
func TestImageEqualsTheDockerfile(t *testing.T) {
	text := string(contentsOf(t, "../../Dockerfile"))
	_, last, ok := strings.Cut(text, "\nFROM scratch\n")
	if !ok {
		t.Fatal("the Dockerfile has no stage FROM scratch")
	}
	want := imageConfig{ExposedPorts: map[string]struct{}{}, Volumes: map[string]struct{}{}}
	list := func(text string) (words []string) {
		if err := json.Unmarshal([]byte(text), &words); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return words
	}
	var paths []string
	for line := range strings.Lines(last) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "COPY":
			fields := strings.Fields(rest)
			paths = append(paths, fields[len(fields)-1])
			if chown := slices.Contains(fields, fmt.Sprintf("--chown=%d:%[1]d", imageUser)); chown != (fields[len(fields)-1] == "/data") {
				t.Errorf("COPY %s: expected the owner %d for /data only", rest, imageUser)
			}
		case "USER":
			want.User = rest
		case "ENV":
			want.Env = append(want.Env, rest)
		case "VOLUME":
			want.Volumes[rest] = struct{}{}
		case "EXPOSE":
			for port := range strings.FieldsSeq(rest) {
				want.ExposedPorts[port] = struct{}{}
			}
		case "ENTRYPOINT":
			want.Entrypoint = list(rest)
		case "CMD":
			want.Cmd = list(rest)
		case "HEALTHCHECK": // OCI images have none
		default:
			t.Fatalf("this test does not know %s", word)
		}
	}
	if got := dockerConfig(); !reflect.DeepEqual(got, want) {
		t.Errorf("the image has %+v, the Dockerfile %+v", got, want)
	}
	if !slices.Equal(paths, []string{"/fbo-node", "/data"}) {
		t.Errorf("the Dockerfile copies to %q, the image has /fbo-node and /data", paths)
	}
}

func imageSource() source {
	return source{version: "0.1.0", commit: "abc", time: time.Date(2026, 12, 1, 12, 30, 58, 0, time.UTC), committer: "A Person <a@example.org>"}
}

func imageFiles(program string) []file {
	return []file{
		{"README.md", []byte("first"), false}, {"fbo-node", []byte(program), true},
		{licencesFile, []byte("others"), false}, {"LICENSE", []byte("own"), false},
	}
}

func TestImageHasBothPlatforms(t *testing.T) {
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one.tar"), filepath.Join(dir, "other.tar")
	variants := []variant{{"amd64", imageFiles("x")}, {"arm64", imageFiles("arm")}}
	if err := packImage(one, imageSource(), variants); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(variants[0].files)
	if err := packImage(other, imageSource(), variants); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(contentsOf(t, one), contentsOf(t, other)) {
		t.Error("the order of files changes the bytes")
	}
	for arch, program := range map[string]string{"amd64": "x", "arm64": "arm"} {
		config, layer := openImage(t, one, arch, imageSource().time)
		labels := config.Config.Labels
		config.Config.Labels = nil
		if !reflect.DeepEqual(config.Config, dockerConfig()) || config.Architecture != arch || config.OS != "linux" || !config.Created.Equal(imageSource().time) {
			t.Errorf("%s: the configuration is %+v", arch, config)
		}
		if labels["org.opencontainers.image.version"] != "0.1.0" || labels["org.opencontainers.image.revision"] != "abc" {
			t.Errorf("%s: labels are %q", arch, labels)
		}
		var found []string
		for _, e := range layer {
			found = append(found, fmt.Sprintf("%s %o %d:%d %s", e.Name, e.Mode, e.Uid, e.Gid, e.data))
		}
		want := []string{"data/ 755 65532:65532 ", "LICENSE 644 0:0 own", licencesFile + " 644 0:0 others", "fbo-node 755 0:0 " + program}
		if !slices.Equal(found, want) {
			t.Errorf("%s: the layer has %q, want %q", arch, found, want)
		}
	}
	mustFail(t, packImage(other, imageSource(), []variant{{"arm64", nil}}), "arm64: 0 files for the image; expected fbo-node")
	var in []string
	for _, p := range platforms {
		if p.inImage() {
			in = append(in, p.name)
		}
	}
	if !slices.Equal(in, []string{"linux-amd64", "linux-arm64"}) {
		t.Errorf("the image has %q", in)
	}
}

type entry struct {
	tar.Header
	data []byte
}

// entriesOf returns the entries of a tar archive, which all must have one time.
func entriesOf(t *testing.T, r io.Reader, at time.Time) (all []entry) {
	t.Helper()
	archive := tar.NewReader(r)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(at) {
			t.Errorf("%s has the time %v, want %v", header.Name, header.ModTime, at)
		}
		all = append(all, entry{*header, data})
	}
}

// openImage follows the descriptors of an image from oci-layout to the layer of one processor, and
// compares every size and digest.
func openImage(t *testing.T, path, arch string, made time.Time) (config imageDocument, layer []entry) {
	t.Helper()
	files := map[string][]byte{}
	for _, e := range entriesOf(t, bytes.NewReader(contentsOf(t, path)), made) {
		files[e.Name] = e.data
	}
	decode := func(data []byte, to any) {
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	}
	blob := func(d descriptor, mediaType string) []byte {
		data, ok := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if !ok || d.Size != len(data) || d.MediaType != mediaType || d.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(data)) {
			t.Fatalf("%+v, want %s, with a blob of this size and digest", d, mediaType)
		}
		return data
	}
	var version map[string]string
	var top, index imageIndex
	var m manifest
	decode(files["oci-layout"], &version)
	decode(files["index.json"], &top)
	if version["imageLayoutVersion"] != "1.0.0" || len(top.Manifests) != 1 {
		t.Fatalf("oci-layout has %q, index.json %+v", version, top)
	}
	decode(blob(top.Manifests[0], ociIndex), &index)
	at := slices.IndexFunc(index.Manifests, func(d descriptor) bool { return *d.Platform == imagePlatform{arch, "linux"} })
	if at < 0 {
		t.Fatalf("the index %+v has no %s", index, arch)
	}
	decode(blob(index.Manifests[at], ociManifest), &m)
	decode(blob(m.Config, ociConfig), &config)
	if len(m.Layers) != 1 {
		t.Fatalf("%d layers, want 1", len(m.Layers))
	}
	z, err := gzip.NewReader(bytes.NewReader(blob(m.Layers[0], ociLayer)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain))}; !slices.Equal(config.RootFS.DiffIDs, want) {
		t.Errorf("diff_ids are %q, want %q", config.RootFS.DiffIDs, want)
	}
	return config, entriesOf(t, bytes.NewReader(plain), made)
}

// unpackLayer writes a layer to a folder.
func unpackLayer(t *testing.T, dir string, layer []entry) {
	t.Helper()
	for _, e := range layer {
		path, err := filepath.Join(dir, e.Name), error(nil)
		if e.Typeflag == tar.TypeDir {
			err = os.Mkdir(path, e.FileInfo().Mode().Perm())
		} else {
			err = os.WriteFile(path, e.data, e.FileInfo().Mode().Perm())
		}
		if err := errors.Join(err, os.Chown(path, e.Uid, e.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}
