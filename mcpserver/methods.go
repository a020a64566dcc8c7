package mcpserver

import (
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// protocolMethods returns the methods that a client of the protocol can call.
func protocolMethods() []string {
	return []string{
		"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/templates/list",
		"resources/read", "resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get",
		"completion/complete", "logging/setLevel", "server/discover", "subscriptions/listen",
	}
}

// unknownMethod returns the error for a call of a method that the protocol does not have. In a list, it applies to the
// whole list.
func unknownMethod(list []jsonrpc.Message) *refusal {
	for _, m := range list {
		call, ok := m.(*jsonrpc.Request)
		if !ok || !call.IsCall() || slices.Contains(protocolMethods(), call.Method) {
			continue
		}
		bad := refuse(jsonrpc.CodeMethodNotFound, "unknown method '%s'", shown(call.Method))
		if len(list) == 1 {
			bad.id = call.ID.Raw()
		}
		return bad
	}
	return nil
}

// refusing writes an error of the protocol where the SDK would refuse a method with a plain text. The SDK still
// decides, because a program can add methods to its server.
type refusing struct {
	http.ResponseWriter
	bad     *refusal
	refused bool
}

// WriteHeader implements [http.ResponseWriter].
func (w *refusing) WriteHeader(status int) {
	if status != http.StatusBadRequest {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.refused = true
	w.Header().Del("Content-Length")
	answerBad(w.ResponseWriter, http.StatusOK, w.bad)
}

// Write implements [http.ResponseWriter].
func (w *refusing) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (w *refusing) Unwrap() http.ResponseWriter { return w.ResponseWriter }
