package runs

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// definitionAt is the pointer to the pipeline in a call.
const definitionAt = "/definition"

// codeNoPipeline is the code for a definition that does not name a usable pipeline.
const codeNoPipeline = "unknown_pipeline"

// open reads the pipeline in a call, if any. Mistakes in its text become problems of the call. The error is a
// library error that is the only problem.
func (d *call) open(ctx context.Context, library millrace.Library, data json.RawMessage) error {
	n := d.args.definition
	if n == nil {
		return nil
	}
	var err error
	if n.Kind == strictjson.Object {
		d.args.create.Pipeline, err = d.inline(library.Decoder, n, data)
	} else {
		d.args.create.Pipeline, err = library.Open(ctx, n.Text)
	}
	if err == nil {
		return nil
	}
	if invalid, ok := err.(*millrace.ValidationError); ok { // the error of a file in the library wraps it
		for _, p := range invalid.Problems {
			if p.Pointer = definitionAt + p.Pointer; n.Kind != strictjson.Object {
				p.Line, p.Column = d.at(n.Offset) // its place within the string does not help
			}
			d.take(p)
		}
		return nil
	}
	if len(d.problems) == 0 {
		return err
	}
	d.offset = n.Offset
	d.add(definitionAt, codeNoPipeline, "", "%v", err)
	return nil
}

// inline decodes a pipeline that is an object in the call. Its problems have places in the text of the call.
func (d *call) inline(decoder millrace.Decoder, n *strictjson.Node, data json.RawMessage) (millrace.Pipeline, error) {
	decoder.Locate = func(pointer string, name bool) (line, column int) {
		return d.at(placeOf(n, pointer, name))
	}
	return decoder.Decode(data[n.Offset:n.End])
}

// placeOf returns the offset of the value of a pointer, or of the value's name, or of the last existing value on the
// way.
func placeOf(n *strictjson.Node, pointer string, name bool) int {
	offset := n.Offset
	tokens, _ := strictjson.SplitPointer(pointer)
	for _, token := range tokens {
		var next *strictjson.Node
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Elems) {
			next = n.Elems[i]
			offset = next.Offset
		}
		for _, m := range n.Members {
			if m.Name == token {
				next, offset = m.Value, m.Value.Offset
				if name {
					offset = m.NameOffset
				}
			}
		}
		if next == nil {
			return n.Offset
		}
		n = next
	}
	return offset
}
