// Package agent allows steps of a pipeline to ask a model, or a program around a model, to answer a question or to
// change the tree: the action prompt.
//
// An [Agent] is an interface with one method, and [Func] turns a function into an Agent. The host offers agents by
// name; the name "" is the default agent:
//
//	x := millrace.Executor{Agents: map[string]agent.Agent{"": agent.Func(
//		func(ctx context.Context, r *agent.Request) (agent.Reply, error) {
//			dir, err := r.Workspace(ctx)
//			if err != nil {
//				return agent.Reply{}, err
//			}
//			… // let the model work in dir on r.Text()
//			return agent.Reply{Output: answer, Cost: cost}, nil
//		},
//	)}}
//
// [Command] is a ready agent: it runs a program of the host for each request.
//
// # The life of a request
//
// An attempt of a step asks once. The [Request] has the prompt with its templates expanded, and the output of the step
// before. [Request.Workspace] writes the tree with the changes of earlier steps to a private directory. When Ask
// returns without an error, changes in the directory are staged as changes of the step, and shown, judged and committed
// like others. After an error they are discarded, and the next attempt starts from the same tree. The real tree is
// never touched by an agent that stays in its workspace. Millrace does not enforce this: an agent that runs programs
// must confine them itself, like [Command] with its policy.
//
// The cost of a reply counts at once, also for a failed attempt. Once the budget is spent, no prompt step begins. The
// text of a reply is data: a template in it is never expanded. A model influences the flow of the run only by the
// keywords that the pipeline waits for.
//
// A plan asks when it is made, not when it is committed. With an Executor.Recorder, the same question on the same tree
// is asked only once.
package agent
