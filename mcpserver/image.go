package mcpserver

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	pathpkg "path"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// maxImageBytes is the maximum size of an image that is shown.
const maxImageBytes = 5 << 20

// image reads a file unchanged. It is a step of a pipeline like all others, so it reads only what the host allows.
type image struct {
	Files []string `json:"files,omitempty"`
}

func (image) Spec() actions.Spec {
	return actions.Spec{Name: "image", Summary: "read an image", ReadOnly: true, Input: actions.InputFiles}
}

func (image) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	var out actions.Outcome
	for _, name := range c.Files {
		info, err := c.FS.Stat(name)
		if err != nil {
			return out, &actions.FileError{Path: name, Err: err}
		}
		if info.Size() > maxImageBytes {
			return out, &actions.FileError{Path: name,
				Err: fmt.Errorf("the file has %d bytes, an image at most %d", info.Size(), maxImageBytes)}
		}
		data, err := c.ReadFile(name)
		if err != nil {
			return out, err
		}
		out.Files, out.Output = append(out.Files, name), base64.StdEncoding.EncodeToString(data)
	}
	return out, nil
}

// maxImages is the maximum number of images in one call.
const maxImages = 10

// image shows an image.
func (r *reading) image(ctx context.Context, path string, e *fileRead) error {
	p, err := millrace.New(r.tool.name).Step("image", image{Files: []string{path}}).Raw().Build()
	if err != nil {
		return err
	}
	steps, err := r.lookAt(ctx, p)
	if err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(steps[0].Output)
	if err != nil {
		return err
	}
	kind := http.DetectContentType(data)
	if strings.EqualFold(pathpkg.Ext(path), ".svg") {
		kind = "image/svg+xml"
	}
	if !strings.HasPrefix(kind, "image/") {
		return &nextError{
			err:  &actions.FileError{Path: visible(path), Err: errors.New("not an image that is known: " + kind)},
			code: codeArguments, next: "read it with the mode Line",
		}
	}
	e.Type, e.Bytes, e.image = kind, len(data), data
	return nil
}
