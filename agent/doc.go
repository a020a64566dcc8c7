// Package agent lets steps of a pipeline ask a model, or a program around one, to answer a question or to change the
// tree: the action prompt.
//
// An [Agent] is an interface with one method, and [Func] makes an Agent of a function. The host offers agents by name;
// the name "" is for steps that name none:
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
// [Command] is an agent that is there already: it runs a program of the host for each request.
//
// # The life of a request
//
// An attempt of a step asks once. The [Request] has the prompt with its templates expanded, and what the step before
// has said. [Request.Workspace] makes the tree real, as the steps before have left it, in a directory of its own. When
// Ask returns without an error, what has changed there is staged as the work of the step, and shown, judged and
// committed as any other; after an error it is dropped, and a second attempt starts from what the first one has found.
// The real tree is never touched by an agent that stays in its workspace. Nothing holds it there: an agent that runs
// programs is to confine them itself, as [Command] does by its policy.
//
// The cost of a reply counts at once, also for an attempt that fails. A step that asks is not begun once the budget is
// spent. The text of a reply is data: a template in it is never expanded. A model decides where the run goes on only
// by the keywords that the pipeline waits for.
//
// A plan asks when it is made and not when it is committed. With an Executor.Recorder, the same question on the same
// tree is not asked twice.
package agent
