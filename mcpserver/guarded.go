package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stopKey is the context key of the context whose end cancels a call.
type stopKey struct{}

// stopping returns a context for serving that stays valid while calls are answered. Its calls are canceled when ctx is
// done.
func stopping(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), stopKey{}, ctx)
}

// stoppable returns the context of a call. It is done when the server must stop or ctx is done.
func stoppable(ctx context.Context) (context.Context, func()) {
	stop, ok := ctx.Value(stopKey{}).(context.Context)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	off := context.AfterFunc(stop, func() { cancel(context.Cause(stop)) })
	return ctx, func() {
		off()
		cancel(nil)
	}
}

// guarded turns a panic, and a result or an error that is not valid JSON, into an error of the request. Without this
// they would end the process or the session.
func (s *Server) guarded(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		ctx, done := stoppable(ctx)
		defer done()
		defer func() {
			if v := recover(); v != nil {
				s.cfg.Logger.Error("a request panicked", "method", method, "panic", v, "stack", string(debug.Stack()))
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError,
					Message: visible(fmt.Sprintf("internal error: %v", v))}
			}
		}()
		ctx, req = s.hostNamed(ctx, req)
		if res, err = next(ctx, method, req); err == nil && res != nil {
			_, err = json.Marshal(res)
		}
		if err != nil {
			wire := sendable(wireError(err), req)
			if call, ok := req.(*mcp.CallToolRequest); ok && !slices.Contains(s.names, call.Params.Name) {
				wire.Message += ": " + s.toolAdvice(call.Params.Name)
			}
			return nil, wire
		}
		return res, nil
	}
}

// wireError returns an error in the form of the protocol. One without a code becomes an internal error.
func wireError(err error) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		e.Code, e.Data = wire.Code, wire.Data
	}
	if err != nil {
		e.Message = visible(err.Error())
	}
	return e
}

// sendable returns the error with data that are valid JSON. The SDK quotes the URI of a resource with Go's rules, which
// is not always valid JSON.
func sendable(err *jsonrpc.Error, req mcp.Request) *jsonrpc.Error {
	if len(err.Data) == 0 || json.Valid(err.Data) {
		return err
	}
	err.Data = nil
	if read, ok := req.(*mcp.ReadResourceRequest); ok {
		err.Data, _ = json.Marshal(map[string]string{"uri": read.Params.URI})
	}
	return err
}
