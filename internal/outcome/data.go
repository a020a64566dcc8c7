package outcome

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/params"
)

// Take copies the data returned by an action, and cleans its output. Bytes that are not UTF-8 become U+FFFD, as in
// JSON, so that a stored result has the same texts. Take drops the data if it is not a tree of JSON values, and data,
// output and reports if they are larger than limit bytes together. It returns err, or, if err is nil, the reason for
// dropping something.
func Take(out *actions.Outcome, limit int64, err error) error {
	out.Output = validText(out.Output)
	data, bad := params.Tree(out.Data)
	if data = validTree(data); bad != nil {
		bad = fmt.Errorf("the data of the action is not valid: %w", bad)
	} else if got := int64(len(out.Output)) + sizeOf(data) + sizeOfReports(out.Reports); got > limit {
		bad = &actions.LimitError{What: kinds.LimitShown, Limit: limit, Got: got}
		out.Output, out.Reports = "", nil
	}
	if out.Data = data; bad != nil {
		out.Data = nil
	}
	return cmp.Or(err, bad)
}

// sizeOfReports returns the approximate memory size of reports, in bytes: each input file of a step can have one.
func sizeOfReports(reports []actions.FileReport) int64 {
	const report, edit = 128, 64
	size := int64(0)
	for i := range reports {
		r := &reports[i]
		size += report +
			int64(len(r.Path)+len(r.Error)+len(r.ContentHash)+len(r.RangeHash)+len(r.Target)+len(r.Preview))
		for _, hash := range r.RangeHashes {
			size += int64(len(hash))
		}
		for _, f := range r.FailedEdits {
			size += edit + int64(len(f.Error))
		}
	}
	return size
}

// sizeOf returns the approximate memory size of data, in bytes.
func sizeOf(data any) int64 {
	const value = 64
	size := int64(value)
	switch v := data.(type) {
	case nil:
		return 0
	case string:
		size += int64(len(v))
	case []any:
		for _, elem := range v {
			size += max(value, sizeOf(elem))
		}
	case map[string]any:
		for name, elem := range v {
			size += int64(len(name)) + max(value, sizeOf(elem))
		}
	}
	return size
}

func validText(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// validTree applies validText to all texts in a tree, which it changes.
func validTree(v any) any {
	switch v := v.(type) {
	case string:
		return validText(v)
	case []any:
		for i := range v {
			v[i] = validTree(v[i])
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value := v[key]
			delete(v, key)
			v[validText(key)] = validTree(value)
		}
	}
	return v
}
