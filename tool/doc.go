// Package tool turns functions of a Go program into steps of a pipeline: to send a message, to open a ticket, to look
// something up.
//
// A [Func] is the usual way to write a tool. Its arguments are a struct, with the tags of action parameters, and so is
// its result; both are JSON in a pipeline:
//
//	type message struct {
//		Channel string `json:"channel" param:"required" doc:"Where to post."`
//		Text    string `json:"text" param:"required"`
//	}
//	type sent struct {
//		ID string `json:"id"`
//	}
//	send := tool.Func("messages_send", "Post a message.", func(ctx context.Context, m message) (sent, error) {
//		…
//	})
//	tools, err := tool.New(send)
//	x := millrace.Executor{Tools: tools}
//
// A step calls it by its name, with templates in its arguments, and later steps use its result:
//
//	{"id": "post", "action": "tool", "params": {"tool": "messages_send",
//		"args": {"channel": "general", "text": "{{left.count}} left"}}}
//	{"id": "note", "action": "create", "params": {"path": "posted.txt", "content": "{{post.id}}\n"}}
//
// # Effects outside of the tree
//
// A tool acts outside of the tree unless its [Spec] has Pure set. Its effects remain when the run fails, so it is not
// retried after an error unless its Spec or the step allows retries. A dry run or a plan does not call it: the step and
// the steps that depend on it are skipped, and the plan cannot be committed. [Call].Key is the same for all attempts of
// one visit of a step; it can serve as an idempotency key of a service.
//
// A pure tool only reads information, and may be called at any time, also repeatedly.
//
// A tool must return soon after its context is done: the run waits for it. It may be called from several goroutines.
package tool
