package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// imageArchitectures lists the processors of GOARCH that the image has programs for.
var imageArchitectures = []string{"amd64", "arm64"}

// inImage reports whether the image has this platform's program.
func (p platform) inImage() bool {
	return p.goos == "linux" && slices.Contains(imageArchitectures, p.arch)
}

// imageName returns the name of the archive with the container image.
func imageName(version string) string { return "fbo-node-" + version + "-image.tar" }

// imageConfig is how an engine starts the program, in the form of the OCI's image specification.
type imageConfig struct {
	User         string
	ExposedPorts map[string]struct{}
	Env          []string
	Entrypoint   []string
	Cmd          []string
	Volumes      map[string]struct{}
	Labels       map[string]string `json:",omitempty"`
}

// dockerConfig equals the Dockerfile without its health check, which OCI images cannot hold. A test
// compares both.
func dockerConfig() imageConfig {
	return imageConfig{
		User:         "65532:65532",
		ExposedPorts: map[string]struct{}{"4001/udp": {}, "4001/tcp": {}, "9464/tcp": {}},
		Env:          []string{"FBO_DATA_DIR=/data"},
		Entrypoint:   []string{"/fbo-node"},
		Cmd:          []string{"hub"},
		Volumes:      map[string]struct{}{"/data": {}},
	}
}

// imageUser is the user and group that own the image's volume.
const imageUser = 65532

// The types below are documents of the OCI's image specification, version 1.1.
type (
	imagePlatform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Platform    *imagePlatform    `json:"platform,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	imageDocument struct {
		imagePlatform
		Created time.Time   `json:"created"`
		Config  imageConfig `json:"config"`
		RootFS  rootFS      `json:"rootfs"`
	}
	rootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	manifest struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        descriptor   `json:"config"`
		Layers        []descriptor `json:"layers"`
	}
	imageIndex struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Manifests     []descriptor `json:"manifests"`
	}
)

const (
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociConfig   = "application/vnd.oci.image.config.v1+json"
	ociLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// variant is the image for one processor: its name in GOARCH, and the files of the platform's archive.
type variant struct {
	arch  string
	files []file
}

// packImage writes an OCI image layout as a tar archive, with one index of all variants. Its bytes
// depend only on the arguments.
func packImage(to string, s source, variants []variant) error {
	l := layout{blobs: map[string]bool{}}
	index := imageIndex{2, ociIndex, nil}
	for _, v := range variants {
		m, err := l.variant(v, s)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", to, v.arch, err)
		}
		index.Manifests = append(index.Manifests, m)
	}
	// index.json has one entry, the index of all platforms: with several entries, engines ask which.
	all, err := l.document(ociIndex, index)
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": s.version}
	top, err := json.Marshal(imageIndex{2, ociIndex, []descriptor{all}})
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	l.files = append(l.files, file{"index.json", top, false}, file{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`), false})
	data, err := rootTar(s.time, l.files, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return os.WriteFile(to, data, 0o644)
}

// layout collects the blobs of an image.
type layout struct {
	files []file
	blobs map[string]bool // digests of files
}

// blob adds data and returns its descriptor.
func (l *layout) blob(mediaType string, data []byte) descriptor {
	digits := fmt.Sprintf("%x", sha256.Sum256(data))
	if !l.blobs[digits] {
		l.blobs[digits] = true
		l.files = append(l.files, file{"blobs/sha256/" + digits, data, false})
	}
	return descriptor{MediaType: mediaType, Digest: "sha256:" + digits, Size: len(data)}
}

// document adds a value as JSON and returns its descriptor.
func (l *layout) document(mediaType string, value any) (descriptor, error) {
	data, err := json.Marshal(value)
	return l.blob(mediaType, data), err
}

// variant adds the layer, configuration and manifest for one processor, and returns the descriptor of
// the manifest. The layer has the program, the licences and the empty folder of the volume.
func (l *layout) variant(v variant, s source) (descriptor, error) {
	var files []file
	for _, f := range v.files {
		if f.name == "fbo-node" || f.name == "LICENSE" || f.name == licencesFile {
			files = append(files, f)
		}
	}
	if len(files) != 3 {
		return descriptor{}, fmt.Errorf("%d files for the image; expected fbo-node, LICENSE and %s", len(files), licencesFile)
	}
	plain, err := rootTar(s.time, files, []string{"data/"})
	if err != nil {
		return descriptor{}, err
	}
	small, err := zipped(plain)
	if err != nil {
		return descriptor{}, err
	}
	on := imagePlatform{v.arch, "linux"}
	config := dockerConfig()
	config.Labels = map[string]string{
		"org.opencontainers.image.version":  s.version,
		"org.opencontainers.image.revision": s.commit,
		"org.opencontainers.image.source":   home,
	}
	diff := fmt.Sprintf("sha256:%x", sha256.Sum256(plain))
	c, err := l.document(ociConfig, imageDocument{on, s.time, config, rootFS{"layers", []string{diff}}})
	if err != nil {
		return descriptor{}, err
	}
	m, err := l.document(ociManifest, manifest{2, ociManifest, c, []descriptor{l.blob(ociLayer, small)}})
	m.Platform = &on
	return m, err
}

// rootTar returns a tar archive of root's files, sorted by name, after folders of imageUser.
func rootTar(at time.Time, files []file, folders []string) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, name := range folders {
		header := tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755, ModTime: at, Uid: imageUser, Gid: imageUser}
		if err := t.WriteHeader(&header); err != nil {
			return nil, err
		}
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, f := range files {
		header := tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.data)), Mode: int64(f.mode()), ModTime: at}
		if err := t.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}
