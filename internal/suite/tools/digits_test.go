package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/tool"
)

// TestDigits: a number keeps its digits through variables, arguments, the answer of a tool, templates and stored JSON.
func TestDigits(t *testing.T) {
	t.Parallel()
	for _, number := range []string{
		"10000000000000000999", "-10000000000000000999", "9223372036854775808", "-9223372036854775808", "18446744073709551616",
		"123456789012345678901234567890", "0.12345678901234567890123", "3", "2.5", "1e300",
	} {
		var got any
		echo := tool.Func("echo", "Returns its argument.", func(_ context.Context, args map[string]any) (any, error) {
			got = args["n"]
			return map[string]any{"n": args["n"]}, nil
		})
		text := fmt.Sprintf(`{"name": "p", "variables": {"v": %s}, "steps": [
			{"id": "one", "action": "tool", "params": {"tool": "echo", "args": {"n": %[1]s}}},
			{"id": "two", "action": "tool", "params": {"tool": "echo", "args": {"n": "{{one.n}}"}}},
			{"id": "three", "action": "create", "params": {"path": "f", "content": "{{two.n}} {{vars.v}}"}}]}`, number)
		tools, err := tool.New(echo)
		if err != nil {
			t.Fatal(err)
		}
		p, err := millrace.Decoder{Tools: tools}.Decode([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", number, err)
			continue
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if p, err = (millrace.Decoder{Tools: tools}).Decode(again); err != nil {
			t.Fatal(err)
		}
		fsys := suite.Tree("a.txt", "x")
		res, err := millrace.Executor{Tools: tools}.Run(t.Context(), fsys, p)
		if err != nil {
			t.Errorf("%s: %v", number, err)
			continue
		}
		want := number
		if number == "1e300" {
			want = "1e+300"
		}
		if fmt.Sprint(got) != want || suite.Read(t, fsys, "f") != want+" "+want {
			t.Errorf("%s: the tool has %v (%T), the file %q", number, got, got, suite.Read(t, fsys, "f"))
		}
		stored, err := json.Marshal(res)
		var back millrace.Result
		if err == nil {
			err = json.Unmarshal(stored, &back)
		}
		if data, ok := back.Results[0].Data.(map[string]any); err != nil || !ok || fmt.Sprint(data["n"]) != want {
			t.Errorf("%s: stored as %v (%v)", number, back.Results[0].Data, err)
		}
	}
}
