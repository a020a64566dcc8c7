package tool_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/tool"
)

// A tool is a function with typed arguments. Its arguments are checked before it is called.
func Example() {
	type message struct {
		Channel string `json:"channel" param:"required" doc:"Where to post."`
		Text    string `json:"text" param:"required"`
	}
	type sent struct {
		ID     int64 `json:"id"`
		Length int   `json:"length"`
	}
	send := tool.Func("messages_send", "Post a message.", func(_ context.Context, m message) (sent, error) {
		return sent{ID: 9007199254740993, Length: len(m.Text)}, nil
	})
	tools, err := tool.New(send)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := tools.Call(context.Background(), "messages_send", tool.Call{Args: map[string]any{"channel": "general", "text": "hello"}})
	fmt.Println(res.Data, err)
	_, err = tools.Call(context.Background(), "messages_send", tool.Call{Args: map[string]any{"chanel": "general", "text": "hello"}})
	fmt.Println(err)
	// Output:
	// map[id:9007199254740993 length:5] <nil>
	// tool 'messages_send': tool 'messages_send' has no argument 'chanel': did you mean 'channel'?
}

// A tool that changes nothing sets Pure, so dry runs call it too.
func ExampleWithSpec() {
	lookup := tool.Func("users_find", "Find a user.", func(_ context.Context, in struct {
		Name string `json:"name"`
	}) (string, error) {
		return strings.ToUpper(in.Name), nil
	})
	pure := tool.WithSpec(lookup, func(s *tool.Spec) { s.Pure = true })
	fmt.Println(lookup.Spec().Pure, pure.Spec().Pure, pure.Spec().Name)
	// Output: false true users_find
}
