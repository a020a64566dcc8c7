package mcpserver

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
)

// Server serves one tree. It is safe for concurrent use by any number of sessions, which share its plans.
type Server struct {
	cfg     Config
	actions millrace.Decoder // has and describes the actions that this server can run
	mcp     *mcp.Server
	names   []string // of the tools
	plans   *plans
	ranges  *ranges
	key     []byte // of the process, to sign the state that clients send back
	calls   sync.WaitGroup
	closing func() error
	once    sync.Once
}

// MCP returns the server of the SDK, to add tools or to serve another transport.
func (s *Server) MCP() *mcp.Server { return s.mcp }

// Close releases the plans, and the root that New opened. It does not end sessions, but their calls fail from then on.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		s.plans.clear()
		err = s.closing()
	})
	return err
}

// executor returns the policy of one call: that of the configuration, with an observer.
func (s *Server) executor(observe func(millrace.Event)) millrace.Executor {
	x := s.cfg.Executor
	x.Observe = millrace.Observers(x.Observe, observe)
	return x
}
