package lenient

import (
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// toObject reads a pipeline in a string or as the only element of a list.
func (f *fitting) toObject(root *strictjson.Node) {
	f.Fit(root, &form.Form{Kind: form.Object}, "")
	if root.Kind == strictjson.Array && len(root.Elems) == 1 && root.Elems[0].Get("steps") != nil {
		f.Note("", root.Offset, "the only element of the list was read as the pipeline")
		*root = *root.Elems[0]
	}
}

// mostWrapped is the maximum number of objects around the pipeline.
const mostWrapped = 3

// unwrap extracts the pipeline from an object that has it in a field. Other fields of that object are kept.
func (f *fitting) unwrap(root *strictjson.Node) {
	for range mostWrapped {
		i := f.Wrapper(root)
		if i < 0 {
			return
		}
		m := root.Members[i]
		beside := slices.Delete(slices.Clone(root.Members), i, i+1)
		if m.Value.Kind == strictjson.String {
			f.Fit(m.Value, &form.Form{Kind: form.Object}, "/"+strictjson.EscapeToken(m.Name))
		}
		if m.Value.Kind != strictjson.Object {
			return
		}
		f.Note("", m.NameOffset, "'%s' was read as the pipeline that is in it", m.Name)
		*root = *m.Value
		inner := root.Values()
		for _, b := range beside {
			switch {
			case ofCall(b.Name) && mend.Silent(b.Value), mend.Remark(b.Name, b.Value):
				f.Note("/"+strictjson.EscapeToken(b.Name), b.NameOffset, "'%s' beside the pipeline was left out",
					b.Name)
			case inner[b.Name] == nil:
				root.Members = append(root.Members, b)
			case string(inner[b.Name].AppendJSON(nil)) != string(b.Value.AppendJSON(nil)):
				f.Refuse("/"+strictjson.EscapeToken(b.Name), b.NameOffset, "keep one of them",
					"'%s' is given in the pipeline and beside it, and differs", b.Name)
			}
		}
	}
}

// Wrapper returns the index of the member that contains the pipeline, or -1 if it is not wrapped.
func (f *Forms) Wrapper(root *strictjson.Node) int {
	if f.hasSteps(root) || f.alone(root) >= 0 {
		return -1
	}
	return slices.IndexFunc(root.Members, func(m strictjson.Member) bool {
		return wraps(m.Name) && (m.Value.Kind == strictjson.Object || m.Value.Kind == strictjson.String)
	})
}

// wraps reports whether a field of that name can contain a pipeline.
func wraps(name string) bool {
	switch form.Plain(name) {
	case "pipeline", "pipelinejson", "pipelinerequest", "pipelinedefinition", "definition", "arguments",
		"args", "input", "parameters", "params", "request":
		return true
	}
	return false
}

func (f *Forms) hasSteps(n *strictjson.Node) bool {
	return slices.ContainsFunc(n.Members, func(m strictjson.Member) bool {
		name, _ := f.Pipeline.Match(m.Name)
		return name == "steps"
	})
}

// alone returns the index of the member "action" if the root is a step instead of a pipeline, or -1. Such a root has no
// steps, neither directly nor one level below.
func (f *Forms) alone(root *strictjson.Node) int {
	if f.hasSteps(root) ||
		slices.ContainsFunc(root.Members, func(m strictjson.Member) bool { return f.hasSteps(m.Value) }) {
		return -1
	}
	return slices.IndexFunc(root.Members, func(m strictjson.Member) bool {
		name, _ := f.Step.Known(m.Name)
		return name == "action" && m.Value.Kind == strictjson.String && slices.Contains(f.Actions, m.Value.Text)
	})
}

// Other returns the index of the member that shows that an object without steps is not a pipeline, a message about what
// it is, and a hint on what to send instead. at is -1 if that is unknown.
func (f *Forms) Other(root *strictjson.Node) (at int, message, hint string) {
	const whole = `{"name": "...", "steps": [...]}`
	if at = f.alone(root); at >= 0 {
		return at, "this is a step, and no pipeline", "put the step into steps: " + whole
	}
	if at = f.Wrapper(root); at >= 0 {
		return at, fmt.Sprintf("the pipeline is wrapped in '%s'", root.Members[at].Name),
			"send what is in it alone, without the object around it"
	}
	at = slices.IndexFunc(root.Members,
		func(m strictjson.Member) bool { return wraps(m.Name) && m.Value.Kind == strictjson.Array })
	if at < 0 || f.hasSteps(root) {
		return -1, "", ""
	}
	return at, fmt.Sprintf("the list of steps is called '%s'", root.Members[at].Name), "call it steps: " + whole
}

// ofCall reports whether a name belongs to a tool call whose argument is the pipeline.
func ofCall(name string) bool {
	switch name {
	case "name", "tool", "tool_name", "type", "id", "method", "function", "jsonrpc", "server":
		return true
	}
	return false
}
