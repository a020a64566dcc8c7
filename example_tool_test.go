package millrace_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/tool"
)

// A step calls a function of this program. It acts outside of the tree, so a plan only reports that it would be called.
func ExampleExecutor_tools() {
	type message struct {
		Channel string `json:"channel" param:"required"`
		Text    string `json:"text" param:"required"`
	}
	type sent struct {
		ID string `json:"id"`
	}
	send := tool.Func("messages_send", "Post a message.", func(ctx context.Context, m message) (sent, error) {
		fmt.Printf("posted in %s: %s\n", m.Channel, m.Text)
		return sent{ID: "m1"}, nil // a real service would receive tool.Current(ctx).Key
	})
	tools, err := tool.New(send)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := millrace.Decoder{Tools: tools}.Decode([]byte(`{"name": "announce", "steps": [
		{"id": "left", "action": "search", "params": {"pattern": "TODO"}},
		{"id": "post", "action": "tool", "params": {"tool": "messages_send", "args": {"channel": "general", "text": "{{left.count}} left"}}},
		{"id": "note", "action": "create", "params": {"path": "posted.txt", "content": "{{post.id}}\n"}}
	]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fsys := afero.NewMemMapFs()
	_ = afero.WriteFile(fsys, "main.go", []byte("// TODO\n// TODO\n"), 0o644)
	x := millrace.Executor{Tools: tools}

	plan, err := x.Plan(context.Background(), fsys, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range plan.Result().Results {
		fmt.Println(s.StepID, cmp.Or(s.SkipReason, "done"))
	}
	_, err = plan.Commit(context.Background())
	fmt.Println(errors.Is(err, millrace.ErrIncomplete))

	if _, err := x.Run(context.Background(), fsys, p); err != nil {
		fmt.Println(err)
		return
	}
	data, _ := afero.ReadFile(fsys, "posted.txt")
	fmt.Printf("%s", data)
	// Output:
	// left done
	// post tool 'messages_send' acts outside of the tree and is not called in a dry run
	// note 'post' was not called
	// true
	// posted in general: 2 left
	// m1
}
