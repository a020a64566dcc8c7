package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/wording"
)

// answer is the answer of a tool. A client shows the model either the texts or the data, so each has the whole answer.
type answer struct {
	// texts are the parts of the answer. A part with JSON has nothing else.
	texts  []string
	images []*mcp.ImageContent
	links  []*mcp.ResourceLink
	data   map[string]any
	failed bool
	// ask is a question to the person at the client. The client repeats the call with the person's answer.
	ask *mcp.CallToolResult
}

// note adds a part for each text.
func (a *answer) note(texts ...string) {
	for _, text := range texts {
		if text != "" {
			a.texts = append(a.texts, visible(text))
		}
	}
}

// repaired adds warnings about arguments that were repaired.
func (a *answer) repaired(warnings []string) {
	if len(warnings) == 0 || a.ask != nil {
		return
	}
	lines := make([]string, len(warnings))
	for i, w := range warnings {
		lines[i] = "warning: " + w
	}
	a.note(strings.Join(lines, "\n"))
	if a.data == nil {
		return
	}
	switch all := a.data["warnings"].(type) {
	case []string:
		a.data["warnings"] = slices.Concat(all, warnings)
	case []any: // the data were read from JSON
		for _, w := range warnings {
			all = append(all, w)
		}
		a.data["warnings"] = all
	default:
		a.data["warnings"] = warnings
	}
}

// result returns the answer in the form of the protocol, each part within limit bytes.
func (a *answer) result(limit int) *mcp.CallToolResult {
	if a.ask != nil {
		return a.ask
	}
	r := &mcp.CallToolResult{Content: []mcp.Content{}, IsError: a.failed}
	for _, text := range a.texts {
		r.Content = append(r.Content, &mcp.TextContent{Text: cut(text, limit)})
	}
	for _, img := range a.images {
		r.Content = append(r.Content, img)
	}
	for _, link := range a.links {
		r.Content = append(r.Content, link)
	}
	if a.data != nil {
		r.StructuredContent = fit(a.data, limit)
	}
	return r
}

// asObject returns a value as the JSON object that it encodes to.
func asObject(v any) (map[string]any, error) {
	text, err := plainJSON(v)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	return object, json.Unmarshal(text, &object)
}

// cut shortens a text to limit bytes, with a count of what was left out. It cuts at the end of a line if that loses
// little.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const room = 60 // for the note
	end := limit - room
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if line := strings.LastIndexByte(text[:end], '\n'); line > end-end/4 {
		end = line + 1
	}
	return fmt.Sprintf("%s\n… %d more bytes are left out", strings.TrimSuffix(text[:end], "\n"), len(text)-end)
}

// reported returns the answer to a change that was made or planned.
func reported(res *millrace.Result) *answer {
	var b strings.Builder
	_ = res.Write(&b)
	if !res.Verbose {
		details(&b, res)
	}
	data := map[string]any{"summary": res.String()}
	results(data, res)
	warned(data, res)
	return &answer{texts: []string{strings.TrimRight(b.String(), "\n")}, data: data}
}

// maxNamed is the number of names that a list keeps in the data of a pipeline that is not verbose.
const maxNamed = 50

// results adds a result to the data of an answer. Without verbose it omits contents, counts, and the ends of long lists
// of files.
func results(data map[string]any, res *millrace.Result) {
	data["result"] = res
	if res.Verbose {
		return
	}
	short := *res
	short.Results = slices.Clone(res.Results)
	for i := range short.Results {
		step := &short.Results[i]
		step.Content, step.AggregatedContent, step.Counts = nil, "", nil
		step.Files = slices.DeleteFunc(slices.Clone(step.Files), func(f actions.FileReport) bool { return f.Success })
	}
	object, err := asObject(&short)
	if err != nil {
		return
	}
	cutList := func(within map[string]any, name string) {
		if list, ok := within[name].([]any); ok && len(list) > maxNamed {
			within[name], within[name+"_total"], data["truncated"] = list[:maxNamed], len(list), true
		}
	}
	cutList(object, "files_affected")
	steps, _ := object["results"].([]any)
	for _, step := range steps {
		if step, ok := step.(map[string]any); ok {
			cutList(step, "files_matched")
		}
	}
	data["result"] = object
}

// warned adds the warnings of a result to the data of its answer, with the same key in each tool.
func warned(data map[string]any, res *millrace.Result) {
	if all := warningsOf(res); len(all) > 0 {
		data["warnings"] = all
	}
}

// warningsOf returns the warnings of a result. A tool that runs one step does not name the step.
func warningsOf(res *millrace.Result) []string {
	all := slices.Clone(res.Warnings)
	for _, step := range res.Results {
		before := "step '" + step.StepID + "': "
		if step.StepID == ownStep {
			before = ""
		}
		for _, w := range step.Warnings {
			all = append(all, before+w)
		}
	}
	return all
}

// ownStep is the id of the step of a tool that runs one step.
const ownStep = "step"

// withoutEntries words messages for a tool that has an entry for each file: such a file needs no warning.
func withoutEntries(p wording.Part) string {
	if p.Kind == "left_as_it_was" {
		return ""
	}
	return p.Text
}

// details writes the part after the summary line, with the facts that a model needs for its next call.
func details(b *strings.Builder, res *millrace.Result) {
	if res.DryRun {
		b.WriteString("dry run: nothing was written\n")
	}
	if res.WouldBlock {
		fmt.Fprintf(b, "would be blocked: %s\n", visible(res.BlockReason))
	}
	if res.Replayed {
		b.WriteString("this was applied before: the result is that of then\n")
	}
	f := res.FilesChanged
	listed(b, "created", f.Created)
	listed(b, "modified", f.Modified)
	listed(b, "deleted", f.Deleted)
	renamed := make([]string, len(f.Renamed))
	for i, r := range f.Renamed {
		renamed[i] = r.From + " -> " + r.To
	}
	listed(b, "renamed", renamed)
	if f.Count() == 0 {
		listed(b, "files", res.FilesAffected)
	}
	if res.BackupID != "" {
		fmt.Fprintf(b, "backup: %s (undo takes it back)\n", res.BackupID)
	}
	warnings(b, res)
}

// detailed returns the text of details.
func detailed(res *millrace.Result) string {
	var b strings.Builder
	details(&b, res)
	return strings.TrimRight(b.String(), "\n")
}

// warningLines returns the warnings of a result, one per line.
func warningLines(res *millrace.Result) string {
	var b strings.Builder
	warnings(&b, res)
	return strings.TrimRight(b.String(), "\n")
}

func warnings(b *strings.Builder, res *millrace.Result) {
	all := warningsOf(res)
	lines := make([]string, len(all))
	for i, w := range all {
		lines[i] = "warning: " + visible(w)
	}
	if len(lines) > 0 {
		b.WriteString(actions.Few(lines, "\n") + "\n")
	}
}

func listed(b *strings.Builder, what string, names []string) {
	if len(names) == 0 {
		return
	}
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = visible(name)
	}
	fmt.Fprintf(b, "%s: %s\n", what, actions.Few(shown, ", "))
}

// visible returns a text whose lines are safe to display.
func visible(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = fsutil.Visible(line)
	}
	return strings.Join(lines, "\n")
}
