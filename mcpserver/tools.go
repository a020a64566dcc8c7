package mcpserver

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

//go:embed schemas/*.json
var schemas embed.FS

// resultSchema is the schema of all answers. It allows any object: clients check answers with it, and each conversation
// pays for its length.
const resultSchema = `{"type":"object"}`

// described is the content of a file in schemas.
type described struct {
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`
}

// tools returns the tools in the order in which a model uses them. Clients sort them by name.
func (s *Server) tools() []tool {
	list := []tool{
		{name: "batch_operations", writes: !s.cfg.ReadOnly, run: batchOperations},
		{name: "plan_pipeline", run: planPipeline},
		{name: "review_plan", run: reviewPlan},
		{name: "apply_plan", writes: true, idempotent: true, run: applyPlan},
		{name: "apply_patch", writes: true, run: applyPatch},
		{name: "fs_read", run: fsRead},
		{name: "fs_write", writes: true, run: fsWrite},
		{name: "history", run: history},
		{name: "undo", writes: true, run: undo},
		{name: "describe_actions", run: describeActions},
	}
	if s.cfg.Aliases {
		list = append(list,
			tool{name: "pipeline", writes: true, run: namedPipeline},
			tool{name: "mcp_pipeline", writes: true, run: listPipeline})
	}
	return list
}

func (s *Server) addTools() error {
	for _, t := range s.tools() {
		if t.writes && s.cfg.ReadOnly {
			continue
		}
		data, err := schemas.ReadFile("schemas/" + t.name + ".json")
		if err != nil {
			return err
		}
		var d described
		if err := json.Unmarshal(data, &d); err != nil {
			return fmt.Errorf("schemas/%s.json: %w", t.name, err)
		}
		if t.input, err = parseSchema(d.Input); err != nil {
			return fmt.Errorf("schemas/%s.json: %w", t.name, err)
		}
		if len(s.cfg.Runs.Library.Dirs) == 0 {
			d = d.withoutLibrary()
		}
		s.addTool(t, d)
	}
	return s.addRuns()
}

// withoutLibrary describes a tool without mentioning names of pipelines, for a server without a library.
func (d described) withoutLibrary() described {
	words := strings.NewReplacer(
		" or by its name in the library", "", "The pipeline as JSON, or its name.", "The pipeline as JSON.",
		"an object, its JSON as a text, or the name of a pipeline of the library", "an object, or its JSON as a text",
		"from this name of the library", "by this name",
		"a pipeline of the library, or of a given pipeline", "a given pipeline",
	)
	d.Description, d.Input = words.Replace(d.Description), json.RawMessage(words.Replace(string(d.Input)))
	return d
}

// addRuns adds the commands over durable runs that the configuration has.
func (s *Server) addRuns() error {
	r := &s.cfg.Runs
	r.Library.Decoder = s.cfg.Decoder
	if r.Source == "" {
		r.Source = runs.SourceMCP
	}
	if s.cfg.ReadOnly {
		r.Manage, r.Jobs = nil, nil
	}
	if r.Manage != nil && (s.cfg.RequireHash || !s.cfg.AllowForce) {
		r.Manage = ruledRuns{r.Manage, s}
	}
	if r.Jobs != nil && !s.cfg.AllowForce {
		r.Jobs = unforcedJobs{r.Jobs}
	}
	library := len(r.Library.Dirs) > 0
	for _, name := range r.Names() {
		doc, err := r.Describe(name)
		if err != nil {
			return err
		}
		full, err := r.FlatSchema(name)
		if err != nil {
			return err
		}
		about := described{Title: strings.ReplaceAll(name, "_", " "), Description: doc.Summary}
		hidden := ""
		if !library && name == runs.CommandManage {
			hidden = "ref" // the name of a pipeline in the library
		}
		input, err := flat(full, hidden)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		about.Input = input
		if !library {
			about = about.withoutLibrary()
		}
		s.addTool(tool{name: name, writes: !doc.ReadOnly, run: runCommand}, about)
	}
	return nil
}

func (s *Server) addTool(t tool, d described) {
	s.names = append(s.names, t.name)
	closed, destructive := false, t.writes
	definition := &mcp.Tool{
		Name: t.name, Title: d.Title, Description: d.Description,
		InputSchema: compact(d.Input), OutputSchema: json.RawMessage(resultSchema),
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: !t.writes, DestructiveHint: &destructive, OpenWorldHint: &closed,
			IdempotentHint: t.idempotent || !t.writes,
		},
	}
	s.mcp.AddTool(definition, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.handle(ctx, t, req), nil
	})
}

// handle answers a call. Even an error is an answer, because the model must read it.
func (s *Server) handle(ctx context.Context, t tool, req *mcp.CallToolRequest) *mcp.CallToolResult {
	s.calls.Add(1)
	defer s.calls.Done()
	c := &call{Server: s, tool: t, req: req, args: req.Params.Arguments, progress: newProgress(ctx, req)}
	defer c.progress.stop()
	if len(c.args) == 0 {
		c.args = json.RawMessage("{}")
	}
	a, err := s.answer(ctx, c)
	// The last progress notice is sent before the answer.
	c.progress.stop()
	if err != nil {
		s.cfg.Logger.Info("tool call failed", "tool", t.name, "code", c.codeOf(err), "error", err)
		a = c.failure(a, err)
	}
	a.repaired(c.repaired)
	return a.result(s.cfg.MaxResult)
}

func (s *Server) answer(ctx context.Context, c *call) (*answer, error) {
	if name, ok := ctx.Value(takenKey{}).(string); ok {
		c.repaired = append(c.repaired, fmt.Sprintf("'%s' was read as the tool %s", name, c.tool.name))
	}
	if c.tool.input != nil {
		var warnings []string
		c.args, warnings = c.tool.meant(c.args)
		c.repaired = append(c.repaired, warnings...)
		if problems := c.tool.input.check(c.args); len(problems) > 0 {
			return nil, &nextError{err: &millrace.ValidationError{Problems: problems}, code: codeArguments}
		}
		c.args = c.tool.input.plainNumbers(c.args)
	}
	if c.req.Params.RequestState != "" {
		return s.approved(ctx, c)
	}
	return c.tool.run(ctx, c)
}
