package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// huma has no other place for this setting. Without it, huma would accept a field in capitals, and
// two spellings as one field.
func init() { huma.ValidateStrictCasing = true }

// wellFormed refuses requests that huma would accept: queries that cannot be read, parameters that
// are empty or repeated, and bodies with a content type other than JSON.
func (a *api) wellFormed(ctx huma.Context, next func(huma.Context)) {
	status, at, message := malformed(ctx)
	if status == 0 {
		next(ctx)
		return
	}
	// An error means that the client has disconnected.
	_ = huma.WriteErr(a.API, ctx, status, at+": "+message, &huma.ErrorDetail{Location: at, Message: message})
}

func malformed(ctx huma.Context) (status int, at, message string) {
	asked := ctx.URL()
	query, err := url.ParseQuery(asked.RawQuery)
	if err != nil {
		return http.StatusBadRequest, "query", err.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if message := single(query[name]); message != "" {
			return http.StatusUnprocessableEntity, fmt.Sprintf("query.%.100s", name), message
		}
	}
	request, _ := humago.Unwrap(ctx)
	for _, p := range ctx.Operation().Parameters {
		if p.In != "header" {
			continue
		}
		if message := single(request.Header.Values(p.Name)); message != "" {
			return http.StatusUnprocessableEntity, "header." + p.Name, message
		}
	}
	given := ctx.Header("Content-Type")
	if ctx.Operation().RequestBody == nil || given == "" {
		return 0, "", ""
	}
	media, parameters, err := mime.ParseMediaType(given)
	if charset, ok := parameters["charset"]; err != nil || media != "application/json" || ok && !strings.EqualFold(charset, "utf-8") {
		return http.StatusUnsupportedMediaType, "header.Content-Type", fmt.Sprintf("%.100q: expected application/json, in UTF-8", given)
	}
	return 0, "", ""
}

// single returns the error in the values of one parameter.
func single(values []string) string {
	switch {
	case len(values) > 1:
		return "given more than once; expected once, with commas between several values"
	case len(values) == 1 && values[0] == "":
		return "empty; expected a value, or to leave it out"
	}
	return ""
}

// marshal is huma's for JSON, with output that is safe to display on a terminal.
func marshal(to io.Writer, v any) error {
	var b bytes.Buffer
	if err := huma.DefaultJSONFormat.Marshal(&b, v); err != nil {
		return err
	}
	_, err := to.Write(sanitize.JSON(b.Bytes()))
	return err
}

// unmarshal is json.Unmarshal with errors that contain no Go types.
func unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON at byte %d: %w", syntax.Offset, err)
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%s: %.100s is not accepted; expected whole numbers of 64 bits without a point or an exponent", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%.100s is too large; expected numbers of up to 1.79e308", kind.Value)
	}
	return err
}

// explain makes huma's problems as clear as those of invalid: the detail names the first wrong
// field, and lists the known names beside an unknown one. It does not send back the body, which may
// be large.
func (a *api) explain(ctx huma.Context, _ string, v any) (any, error) {
	problem, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	if problem.Status == http.StatusBadRequest && len(problem.Errors) == 0 {
		problem.Add(&huma.ErrorDetail{Location: "body", Message: problem.Detail + "; expected an object in JSON"})
	}
	for _, one := range problem.Errors {
		one.Value = nil
		switch one.Message {
		case "unexpected property":
			one.Message += accepted(a.fieldsBeside(ctx.Operation(), one.Location))
		case "expected number":
			if strings.Contains(one.Location, ".metrics.") {
				one.Message += "; texts belong in attributes"
			}
		case "unknown query parameter":
			one.Message += accepted(queryOf(ctx.Operation()))
		case "invalid integer":
			one.Message = numberOf(ctx.Operation(), one.Location)
		}
	}
	if problem.Detail == "validation failed" && len(problem.Errors) > 0 {
		first := problem.Errors[0]
		problem.Detail = first.Location + ": " + first.Message
	}
	return problem, nil
}

func accepted(names []string) string {
	if len(names) == 0 {
		return "; expected none"
	}
	return "; accepted: " + strings.Join(names, ", ")
}

// fieldsBeside returns the fields of the object in the body that contains the location.
func (a *api) fieldsBeside(o *huma.Operation, at string) []string {
	schema := o.RequestBody.Content["application/json"].Schema
	resolve := func(s *huma.Schema) *huma.Schema {
		if s.Ref != "" {
			return a.OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
		}
		return s
	}
	parts := strings.Split(at, ".")
	for _, part := range parts[1 : len(parts)-1] { // without "body" and the field itself
		name, _, listed := strings.Cut(part, "[")
		if schema = resolve(schema).Properties[name]; listed && schema != nil {
			schema = schema.Items
		}
		if schema == nil {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(resolve(schema).Properties))
}

func queryOf(o *huma.Operation) (names []string) {
	for _, p := range o.Parameters {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	return names
}

// numberOf describes the numbers that a parameter accepts: all numeric parameters have bounds.
func numberOf(o *huma.Operation, at string) string {
	for _, p := range o.Parameters {
		if at == p.In+"."+p.Name {
			return fmt.Sprintf("expected a whole number from %.0f to %.0f", *p.Schema.Minimum, *p.Schema.Maximum)
		}
	}
	return "expected a whole number"
}
