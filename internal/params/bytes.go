package params

import (
	"encoding/base64"
	"reflect"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// bytesMember is the member of the object that represents a string which is not UTF-8.
const bytesMember = "base64"

// bytesOf reads {"base64": "..."} into a field of any bytes.
func (d *decoder) bytesOf(into reflect.Value, n *strictjson.Node, at *path) {
	const hint = `write the text itself, or {"base64": "..."} for bytes that are not UTF-8`
	if len(n.Members) != 1 || n.Members[0].Name != bytesMember || n.Members[0].Value.Kind != strictjson.String {
		d.add(at, CodeWrongType, n.Offset, hint, "'%s' must be a string, got an object", at)
		return
	}
	data, err := base64.StdEncoding.Strict().DecodeString(n.Members[0].Value.Text)
	if err != nil {
		d.add(at, CodeBadValue, n.Members[0].Value.Offset, hint, "'%s' is not base64: %v", at, err)
		return
	}
	into.SetString(string(data))
}

// appendBytes writes a string of any bytes.
func appendBytes(buf []byte, text string) []byte {
	if utf8.ValidString(text) {
		return strictjson.AppendQuoted(buf, text)
	}
	buf = append(buf, `{"`+bytesMember+`":"`...)
	buf = base64.StdEncoding.AppendEncode(buf, []byte(text))
	return append(buf, `"}`...)
}

// bytesSchema is the schema of the object.
func bytesSchema() map[string]any {
	return map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{bytesMember},
		"properties": map[string]any{bytesMember: map[string]any{"type": "string", "contentEncoding": "base64"}},
	}
}
