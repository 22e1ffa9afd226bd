package vizierapi

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/fbo-node/fbo/internal/vizierapi/vizierpb"
)

// Attributes of a trial that are not metadata. Clients cannot set them, since an encoded namespace begins
// with a colon.
const (
	ownNamespace      = "vizier"
	stoppingAttribute = ownNamespace + "/stopping" // a client has requested that the evaluation ends
	stepsAttribute    = ownNamespace + "/steps"    // the step count of the final measurement
)

// Beginnings of attributes with a value that is not a plain text: a text that is empty or begins like one
// of them, and a message in base64.
const (
	textValue    = "text:"
	messageValue = "message:"
)

// attributeOf returns an entry of the metadata as an attribute of a trial.
func attributeOf(kv *vizierpb.KeyValue) (name, text string, err error) {
	if kv.GetNs() == ownNamespace {
		return "", "", invalid("metadata %.100q: namespace %q is that of this service; expected another one", kv.GetKey(), ownNamespace)
	}
	name = kv.GetKey()
	if kv.GetNs() != "" || strings.Contains(name, "/") {
		name = url.PathEscape(kv.GetNs()) + "/" + name
	}
	if message := kv.GetProto(); message != nil {
		data, err := proto.Marshal(message)
		return name, messageValue + base64.StdEncoding.EncodeToString(data), err
	}
	text = kv.GetValue()
	if text == "" || strings.HasPrefix(text, textValue) || strings.HasPrefix(text, messageValue) {
		text = textValue + text
	}
	return name, text, nil
}

// metadataOf returns the attributes of a trial as metadata, sorted by name.
func metadataOf(attributes map[string]string) (all []*vizierpb.KeyValue) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if name == stoppingAttribute || name == stepsAttribute {
			continue
		}
		all = append(all, entryOf(name, attributes[name]))
	}
	return all
}

// entryOf reverses attributeOf. Attributes that it did not make are plain texts.
func entryOf(name, text string) *vizierpb.KeyValue {
	kv := &vizierpb.KeyValue{Key: name}
	if escaped, key, ok := strings.Cut(name, "/"); ok {
		if ns, err := url.PathUnescape(escaped); err == nil {
			kv.Ns, kv.Key = ns, key
		}
	}
	if encoded, ok := strings.CutPrefix(text, messageValue); ok {
		message := &anypb.Any{}
		if data, err := base64.StdEncoding.DecodeString(encoded); err == nil && proto.Unmarshal(data, message) == nil {
			kv.AValue = &vizierpb.KeyValue_Proto{Proto: message}
			return kv
		}
	}
	kv.AValue = &vizierpb.KeyValue_Value{Value: strings.TrimPrefix(text, textValue)}
	return kv
}

// merged returns metadata with entries that are added, or replace those of the same namespace and key.
func merged(old, added []*vizierpb.KeyValue) []*vizierpb.KeyValue {
	all := slices.Clone(old)
	for _, kv := range added {
		if i := slices.IndexFunc(all, func(o *vizierpb.KeyValue) bool { return o.GetNs() == kv.GetNs() && o.GetKey() == kv.GetKey() }); i >= 0 {
			all[i] = kv
		} else {
			all = append(all, kv)
		}
	}
	return all
}
