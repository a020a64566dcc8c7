package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
)

// maxDiffResource is the maximum size of a diff in a resource, in bytes. review_plan has the pages of a longer diff.
const maxDiffResource = 4 << 20

// addResources adds the resources that a client can attach to a conversation: plans, diffs, and documentation of
// pipelines.
func (s *Server) addResources() {
	s.mcp.AddResource(&mcp.Resource{
		URI: "millrace://schema/pipeline", Name: "schema of pipelines", MIMEType: "application/schema+json",
		Description: "JSON Schema of pipeline_json.",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		text, err := pipelineSchema(s.actions, len(s.cfg.Executor.Agents) > 0)
		return contents(req, string(text)), err
	})
	s.mcp.AddResource(&mcp.Resource{
		URI: "millrace://docs/json", Name: "pipelines as JSON", MIMEType: "text/markdown",
		Description: "The fields of pipelines and the parameters of all actions.",
	}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return contents(req, s.docs()), nil
	})
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "millrace://plans/{id}", Name: "plan", MIMEType: "application/json",
		Description: "What a plan would do, and its digest.",
	}, s.planResource)
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "millrace://plans/{id}/diff", Name: "diff of a plan", MIMEType: "text/x-diff",
	}, s.planDiffResource)
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "millrace://backups/{id}/diff", Name: "diff of an undo", MIMEType: "text/x-diff",
		Description: "What undo of a commit would change.",
	}, s.backupDiffResource)
}

func contents(req *mcp.ReadResourceRequest, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: text}}}
}

// middle returns the text between two parts of a URI.
func middle(uri, before, behind string) string {
	return strings.TrimSuffix(strings.TrimPrefix(uri, before), behind)
}

func (s *Server) planResource(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	e, err := s.plans.find(middle(req.Params.URI, "millrace://plans/", ""))
	if err != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	res := e.plan.Result()
	text := fit(map[string]any{"plan_id": e.id, "digest": e.digest, "summary": res.String(), "result": res},
		maxDiffResource)
	return contents(req, string(text)), nil
}

// diffResource returns a diff as a resource. A diff that is too long is cut at a line, and its last line reports that.
func diffResource(req *mcp.ReadResourceRequest, plan *millrace.Plan, rest string) (*mcp.ReadResourceResult, error) {
	w := &window{room: maxDiffResource}
	if err := plan.WriteDiff(w); err != nil {
		return nil, err
	}
	text := string(w.kept)
	if int64(len(text)) < w.seen {
		text = string(whole(w.kept))
		text += fmt.Sprintf("… cut: %d of %d bytes are shown; %s\n", len(text), w.seen, rest)
	}
	return contents(req, text), nil
}

func (s *Server) planDiffResource(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	e, err := s.plans.find(middle(req.Params.URI, "millrace://plans/", "/diff"))
	if err != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	return diffResource(req, e.plan, fmt.Sprintf("review_plan with plan_id %s and offset shows the rest", e.id))
}

func (s *Server) backupDiffResource(ctx context.Context,
	req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	plan, err := s.executor(nil).PlanRestore(ctx, s.cfg.FS, middle(req.Params.URI, "millrace://backups/", "/diff"))
	if err != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	defer plan.Close() //nolint:errcheck // nothing was written
	return diffResource(req, plan, "a person sees all of it with millrace undo -n")
}

// docs returns the whole documentation of pipelines for this server.
func (s *Server) docs() string {
	var b strings.Builder
	b.WriteString(docsHead)
	for _, name := range s.actions.Actions.Names() {
		if doc, ok := s.actions.Describe(name); ok {
			b.WriteString("\n## " + name + "\n\n" + describe(doc) + "\n")
		}
	}
	for _, name := range s.actions.Tools.Names() {
		if doc, ok := s.actions.DescribeTool(name); ok {
			b.WriteString("\n## tool " + name + "\n\n" + describe(doc) + "\n")
		}
	}
	return b.String()
}

const docsHead = `# Pipelines

A pipeline is one JSON object: "name", "steps" (1 to 20), and if needed "dry_run", "force", "stop_on_error", "create_backup",
"verbose", "parallel". A step has an "id", an "action", its "params", and if needed "input_from" or "input_from_all" (the files
of earlier steps), "condition", "expect" ({"min_files", "max_files", "min_edits", "max_edits"}), "on_fail", "next", "retry_if".
A text in "params" may have templates of earlier steps: {{find.files}}, {{find.files_count}}, {{count.count}}, {{fix.edits}}.
Unknown names are refused. Nothing is written unless all steps succeed.
`
