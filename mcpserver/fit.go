package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// fit returns the JSON of the data if it has at most limit bytes. Otherwise it cuts lists and texts, further and
// further, until the JSON fits. Next to each cut value, "NAME_total" is its whole length; "truncated" means that
// something is missing.
func fit(data map[string]any, limit int) json.RawMessage {
	short, err := fitted(data, limit)
	if err != nil {
		short, _ = plainJSON(map[string]any{"summary": cut(fmt.Sprint(data["summary"]), limit/2), "truncated": true})
	}
	return short
}

// plainJSON is json.Marshal without the escaping of "<", ">" and "&", because a model copies what it is shown.
func plainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// errTooLong reports that a value cannot be cut enough.
var errTooLong = errors.New("the result is too long to be shown")

// fitted is fit for any kind of value.
func fitted(v any, limit int) (json.RawMessage, error) {
	text, err := plainJSON(v)
	if err != nil || len(text) <= limit {
		return text, err
	}
	for list, size := 200, limit/4; list > 0; list, size = list/2, size/2 {
		var plain any
		if err := json.Unmarshal(text, &plain); err != nil {
			return nil, err
		}
		plain, _ = shorter(plain, list, max(size, 80))
		if object, ok := plain.(map[string]any); ok {
			object["truncated"] = true
		}
		if short, err := plainJSON(plain); err == nil && len(short) <= limit {
			return short, nil
		}
	}
	return nil, errTooLong
}

// asText returns a value as JSON within a limit.
func asText(v any, limit int) string {
	text, err := fitted(v, limit)
	if err != nil {
		return visible(err.Error())
	}
	return string(text)
}

// shrink cuts the values of an object in place.
func shrink(object map[string]any, list, size int) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		v, total := shorter(object[name], list, size)
		object[name] = v
		if total > 0 {
			object[name+"_total"] = total
		}
	}
}

// shorter returns a cut value and its original length, 0 if only values inside it were cut.
func shorter(v any, list, size int) (any, int) {
	switch v := v.(type) {
	case string:
		if len(v) <= size {
			return v, 0
		}
		end := size
		for end > 0 && !utf8.RuneStart(v[end]) {
			end--
		}
		return v[:end], len(v)
	case []any:
		total := 0
		if len(v) > list {
			v, total = v[:list], len(v)
		}
		for i := range v {
			v[i], _ = shorter(v[i], list, size)
		}
		return v, total
	case map[string]any:
		shrink(v, list, size)
		total := 0
		// Objects with very many names are maps from paths.
		if names := slices.Sorted(maps.Keys(v)); len(names) > max(list, 40) {
			total = len(names)
			for _, name := range names[max(list, 40):] {
				delete(v, name)
			}
		}
		return v, total
	}
	return v, 0
}
