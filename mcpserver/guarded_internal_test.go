package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A panic, and anything that cannot be sent, is an error of the request that can be sent.
func TestGuarded(t *testing.T) {
	s := &Server{cfg: Config{Logger: slog.New(slog.DiscardHandler)}}
	req := &mcp.ReadResourceRequest{Params: &mcp.ReadResourceParams{URI: "millrace://plans/\a"}}
	for name, next := range map[string]mcp.MethodHandler{
		"a panic": func(context.Context, string, mcp.Request) (mcp.Result, error) { panic("broken") },
		"a result that is not JSON": func(context.Context, string, mcp.Request) (mcp.Result, error) {
			return &mcp.ReadResourceResult{Meta: mcp.Meta{"x": math.NaN()}}, nil
		},
		"an error with data that are not JSON": func(context.Context, string, mcp.Request) (mcp.Result, error) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "x", Data: json.RawMessage(`{"uri":"\a"}`)}
		},
	} {
		res, err := s.guarded(next)(t.Context(), "resources/read", req)
		wire, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || res != nil {
			t.Errorf("%s: %v, %v", name, res, err)
			continue
		}
		if _, err := json.Marshal(wire); err != nil {
			t.Errorf("%s: the error cannot be sent: %v", name, err)
		}
	}
}
