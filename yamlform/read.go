package yamlform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/millrace-go/millrace"
)

// The codes of problems. They are stable: programs may rely on them.
const (
	codeSyntax    = "yaml_syntax"
	codeTooLarge  = "yaml_too_large"
	codeTooDeep   = "yaml_too_deep"
	codeDocuments = "yaml_documents"
	codeAnchor    = "yaml_anchor"
	codeAlias     = "yaml_alias"
	codeMerge     = "yaml_merge"
	codeTag       = "yaml_tag"
	codeKey       = "yaml_key"
	codeRepeated  = "yaml_repeated_key"
	codeScalar    = "yaml_scalar"
	codeTemplate  = "yaml_template"
	codeTooMany   = "too_many_problems"
)

// mostProblems is the number of problems that are reported; the rest is counted.
const mostProblems = 1000

// reading is the state of reading one text.
type reading struct {
	depth    int // the maximum nesting depth
	json     []byte
	pointer  []byte // to the value being written
	values   int    // keys and values so far
	problems []millrace.Problem
	size     int      // bytes of the pointers of the problems
	more     int      // problems left out
	ids      []string // of the steps, as far as they are known
}

// read parses the text and writes it as JSON. It returns the places of all values.
func (r *reading) read(data []byte) *place {
	root, wrong := r.parse(data)
	if wrong != nil {
		r.problems = append(r.problems, *wrong)
		return nil
	}
	r.ids = stepIDs(root)
	top := new(place)
	if root.Kind != yaml.MappingNode {
		r.notMapping(root)
		return top
	}
	r.json = make([]byte, 0, len(data)+len(data)/4)
	r.value(root, top, 1)
	return top
}

// withoutVersion turns a directive for version 1 of YAML into a comment: the parser reads 1.2 and accepts no such
// directive (YAML 1.2, section 6.8.1).
func withoutVersion(data []byte) []byte {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	for rest := text; ; {
		line, after, more := bytes.Cut(rest, []byte("\n"))
		if bytes.HasPrefix(line, []byte("%YAML 1.")) {
			data = bytes.Clone(data)
			data[len(data)-len(rest)] = '#'
			return data
		}
		line = bytes.TrimSpace(line)
		if !more || len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return data
		}
		rest = after
	}
}

// parse returns the only document of the text. No input is known that makes the parser panic, but a panic counts as an
// error of the text and does not end the program.
func (r *reading) parse(data []byte) (root *yaml.Node, wrong *millrace.Problem) {
	defer func() {
		if v := recover(); v != nil {
			root, wrong = nil, wrongText(codeSyntax, 0, 0, fmt.Sprintf("the parser failed: %v", v),
				"send the pipeline as JSON")
		}
	}()
	deep := &limits{depth: r.depth}
	loader, err := yaml.NewLoader(bytes.NewReader(withoutVersion(data)), yaml.WithV4Defaults(),
		yaml.WithPlugin(deep))
	if err != nil {
		return nil, wrongText(codeSyntax, 0, 0, err.Error(), "")
	}
	var document, second yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) {
		return nil, wrongText(codeSyntax, 1, 1, "the text has no pipeline", "")
	} else if err != nil {
		return nil, syntaxProblem(err, data, deep.passed)
	}
	if err := loader.Load(&second); err == nil {
		return nil, wrongText(codeDocuments, second.Line, second.Column, "a second document begins",
			"put each pipeline into a text of its own")
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxProblem(err, data, deep.passed)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, wrongText(codeSyntax, 1, 1, "the text has no pipeline", "")
	}
	return document.Content[0], nil
}

// limits stops the parser at the maximum depth, before its recursion gets too deep.
type limits struct {
	depth  int
	passed bool // something is nested too deeply
}

// tooDeep returns the message for a text that is nested too deeply.
func tooDeep(depth int) string { return "nested more than " + strconv.Itoa(depth) + " levels deep" }

// CheckDepth is called by the parser at each level, with separate counts for block and flow style.
func (l *limits) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > l.depth {
		l.passed = true
		return errors.New(tooDeep(l.depth))
	}
	return nil
}

// CheckAlias is never called, because no alias is expanded.
func (l *limits) CheckAlias(int, int) error { return nil }

// problem records a problem with the value being written.
func (r *reading) problem(n *yaml.Node, code, message, hint string) {
	if r.size += len(r.pointer); len(r.problems) >= mostProblems || r.size > MaxBytes {
		r.more++ // names can be long: a thousand pointers could be more than there is memory for
		return
	}
	p := millrace.Problem{Pointer: string(r.pointer), Code: code, Message: message, Hint: hint, Line: n.Line,
		Column: n.Column}
	if rest, ok := strings.CutPrefix(p.Pointer, "/steps/"); ok {
		digits, _, _ := strings.Cut(rest, "/")
		if i, err := strconv.Atoi(digits); err == nil && i < len(r.ids) {
			p.Step = r.ids[i]
		}
	}
	r.problems = append(r.problems, p)
}

// reported returns the problems in the order of the text, nil if there are none.
func (r *reading) reported() []millrace.Problem {
	if r.more > 0 {
		r.problems = append(r.problems,
			millrace.Problem{Code: codeTooMany, Message: fmt.Sprintf("%d more problems", r.more)})
		r.more = 0
	}
	return r.problems
}

func (r *reading) notMapping(root *yaml.Node) {
	what, hint := "text", ""
	switch root.Kind {
	case yaml.SequenceNode:
		what, hint = "a list", "begin with name: and steps:, and put the list below steps:"
	case yaml.AliasNode:
		what = "an alias"
	}
	r.problems = append(r.problems, *wrongText(codeSyntax, root.Line, root.Column, "a pipeline is a mapping, got "+what,
		hint))
}

// stepIDs returns the ids of the steps, "" for steps without a valid id.
func stepIDs(root *yaml.Node) []string {
	steps := member(root, "steps")
	if steps == nil || steps.Kind != yaml.SequenceNode {
		return nil
	}
	ids := make([]string, min(len(steps.Content), millrace.MaxSteps))
	for i := range ids {
		if id := member(steps.Content[i], "id"); id != nil && id.Kind == yaml.ScalarNode && validID(id.Value) {
			ids[i] = id.Value
		}
	}
	return ids
}

// member returns the value of the first key with that name in a mapping, or nil.
func member(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Kind == yaml.ScalarNode && k.Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func validID(id string) bool {
	for i := range len(id) {
		if c := id[i]; !isLetter(c) && !isDigit(c) && c != '-' && c != '_' {
			return false
		}
	}
	return id != "" && len(id) <= millrace.MaxIDLen
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
