package mcpserver

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// maxImageBytes is the largest image that is shown.
const maxImageBytes = 5 << 20

// image reads a file as it is. It is a step of a pipeline like all others, so that it reads what the host allows.
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
			return out, &actions.FileError{Path: name, Err: fmt.Errorf("the file has %d bytes, an image at most %d", info.Size(), maxImageBytes)}
		}
		data, err := c.ReadFile(name)
		if err != nil {
			return out, err
		}
		out.Files, out.Output = append(out.Files, name), base64.StdEncoding.EncodeToString(data)
	}
	return out, nil
}

// readImages shows one image: hosts show one for each answer.
func (c *call) readImages(ctx context.Context, paths []string) (*answer, error) {
	if len(paths) != 1 {
		return nil, &millrace.ValidationError{Problems: []millrace.Problem{{
			Pointer: "/paths", Code: "out_of_range", Message: "the mode Image takes one path",
		}}}
	}
	p, err := millrace.New(c.tool.name).Step("image", image{Files: paths}).Raw().Build()
	if err != nil {
		return nil, err
	}
	step, err := c.lookAt(ctx, p)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(step.Output)
	if err != nil {
		return nil, err
	}
	kind := http.DetectContentType(data)
	if strings.EqualFold(path.Ext(paths[0]), ".svg") {
		kind = "image/svg+xml"
	}
	if !strings.HasPrefix(kind, "image/") {
		return nil, &nextError{
			err: &actions.FileError{Path: visible(paths[0]), Err: errors.New("not an image that is known: " + kind)}, code: "invalid_arguments", next: "read it with the mode Line",
		}
	}
	return &answer{
		texts: []string{fmt.Sprintf("%s: %s, %d bytes", visible(paths[0]), kind, len(data))},
		image: &mcp.ImageContent{Data: data, MIMEType: kind},
	}, nil
}
