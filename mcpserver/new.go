package mcpserver

import (
	"crypto/rand"
	"io"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const instructions = `millrace changes many files as one: all of a change is made, or nothing.
The way to change files: plan_pipeline shows the diff and writes nothing; review_plan shows more of it, and leaves out what you reject; ` +
	`apply_plan writes exactly what was shown; undo takes it back. ` +
	`batch_operations does it all in one call, fs_write and apply_patch edit files directly. ` +
	`describe_actions lists the actions of pipelines and their parameters. ` +
	`An error ends with a line "next:" with the next step. If a change needs the consent of a person, ask for it; do not split it to get around that.`

// New makes a server. The error names the wrong setting, or the reason why the root cannot be opened.
func New(cfg Config) (*Server, error) {
	closing, err := cfg.open()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, actions: runnable(cfg), plans: newPlans(), ranges: newRanges(), key: make([]byte, 32),
		closing: closing}
	if _, err := io.ReadFull(rand.Reader, s.key); err != nil {
		return nil, err
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "millrace", Title: "millrace", Version: version()},
		&mcp.ServerOptions{
			Instructions: instructions,
			Logger:       cfg.Logger,
			// Without this, the SDK announces that the server logs to its clients. It does not.
			Capabilities: &mcp.ServerCapabilities{},
		})
	s.mcp.AddReceivingMiddleware(s.guarded)
	if err := s.addTools(); err != nil {
		_ = closing()
		return nil, err
	}
	s.addResources()
	return s, nil
}

// version returns the version of the module that was built into the program.
func version() string {
	const path = "github.com/millrace-go/millrace/mcpserver"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == path && m.Version != "" {
				return m.Version
			}
		}
	}
	return "(devel)"
}
