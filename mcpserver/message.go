package mcpserver

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMessage is the maximum length of a client's message, in bytes, on both transports. A pipeline has the same limit.
const maxMessage = 16 << 20

// maxNested is the maximum nesting of lists and objects in a message.
const maxNested = 1_000

// refusal is the answer to a malformed message.
type refusal struct {
	id  any // nil if it cannot be read
	err *jsonrpc.Error
}

func refuse(code int64, format string, args ...any) *refusal {
	return &refusal{err: &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}

func tooLong() *refusal {
	return refuse(jsonrpc.CodeParseError, "the message has more than %d bytes", maxMessage)
}

// wellFormed refuses a message that is not JSON, or that readers could understand differently.
func wellFormed(data []byte) *refusal {
	switch {
	case nested(data) > maxNested:
		return refuse(jsonrpc.CodeParseError, "lists and objects are nested more than %d deep", maxNested)
	case !utf8.Valid(data):
		return refuse(jsonrpc.CodeParseError, "the message is not UTF-8")
	case !json.Valid(data):
		return refuse(jsonrpc.CodeParseError, "the message is not JSON")
	}
	return nil
}

// nested returns the maximum nesting of lists and objects in a text that may be JSON.
func nested(data []byte) int {
	depth, most, inText := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '[' || c == '{':
			depth++
			most = max(most, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return most
}

// messages reads one message, or several in a list.
func messages(data []byte) (list []jsonrpc.Message, batch bool, bad *refusal) {
	if bad = wellFormed(data); bad != nil {
		return nil, false, bad
	}
	parts := []json.RawMessage{data}
	if kindOf(data) == "array" {
		batch = true
		if err := json.Unmarshal(data, &parts); err != nil || len(parts) == 0 {
			return nil, true, refuse(jsonrpc.CodeInvalidRequest, "the list of messages is empty")
		}
	}
	seen := make(map[any]bool)
	for _, part := range parts {
		m, bad := message(part)
		if bad != nil {
			return nil, batch, bad
		}
		if call, ok := m.(*jsonrpc.Request); ok && call.IsCall() {
			if seen[call.ID.Raw()] {
				return nil, batch, refuse(jsonrpc.CodeInvalidRequest, "two messages of the list have the id %v",
					call.ID.Raw())
			}
			seen[call.ID.Raw()] = true
		}
		list = append(list, m)
	}
	return list, batch, nil
}

// message reads one message that is well-formed JSON.
func message(data []byte) (jsonrpc.Message, *refusal) {
	if kindOf(data) != "object" {
		return nil, refuse(jsonrpc.CodeInvalidRequest, "a message is an object, not %s", article(kindOf(data)))
	}
	var head struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, refuse(jsonrpc.CodeInvalidRequest, "%v", err)
	}
	id, ok := readID(head.ID)
	if !ok {
		return nil, refuse(jsonrpc.CodeInvalidRequest, "an id is a text or a whole number of at most %d", int64(maxID))
	}
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		bad := refuse(jsonrpc.CodeInvalidRequest, "%v", err)
		bad.id = id
		return nil, bad
	}
	return m, nil
}

// readID reads an id that can be returned unchanged: a text, a whole number, or nothing.
func readID(raw json.RawMessage) (id any, ok bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil && -maxID <= n && n <= maxID
}

// encode returns the text of an answer that does not belong to a call with a known id.
func (r *refusal) encode() []byte {
	data, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", r.id, r.err})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return data
}

// encodeMessage returns the text of a message. An answer that cannot be encoded as JSON becomes an error with its id.
func encodeMessage(m jsonrpc.Message) ([]byte, error) {
	answer, ok := m.(*jsonrpc.Response)
	if ok && !answer.ID.IsValid() {
		return (&refusal{err: wireError(answer.Error)}).encode(), nil
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err == nil || !ok {
		return data, err
	}
	bad := refuse(jsonrpc.CodeInternalError, "the answer cannot be written: %v", err)
	bad.id = answer.ID.Raw()
	return bad.encode(), nil
}
