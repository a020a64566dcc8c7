// Package millraceotel makes OpenTelemetry spans of what millrace does: one for each run, plan, commit and restore, and
// below it one for each visit of a step. It is a module of its own, so that millrace itself needs nothing of
// OpenTelemetry.
//
//	runner := millraceotel.Instrument(millrace.Executor{Tools: tools}, millraceotel.WithTracerProvider(provider))
//	res, err := runner.Run(ctx, fsys, pipeline)
//
// # Life cycle
//
// [Instrument] is called once, with the executor as the host has set it up, and the [Runner] is used in its place, for
// any number of runs, from any number of goroutines. It has nothing to close. The tracer provider belongs to the host,
// which shuts it down when its last run has returned; without [WithTracerProvider] it is package otel's global
// provider.
//
// A span begins in the context that the caller of Run, Plan, Restore or [millrace.Plan.Commit] gives, and ends before
// that method returns. Spans that a step's tool, agent or host action makes from its context hang below the span
// of that visit, and a command finds it in its environment as TRACEPARENT, see [EnvFor].
//
// # Spans
//
// They follow the semantic conventions for pipelines (CICD), version 1.43.0; docs/tracing.md lists all attributes.
//
//	RUN fix-imports                  cicd.pipeline.result=success
//	├── find                         cicd.pipeline.task.run.result=success
//	├── fix                          cicd.pipeline.task.run.result=success, events millrace.retry
//	└── report                       cicd.pipeline.task.run.result=skip
//
// The span of a step that was visited twice is there twice. A step that a jump has passed over was not visited, and has
// none. A failed run or step has status Error and an error.type, which is a code of [millrace.ErrorCode]; so has the
// span of a failed step where the run went on and has succeeded.
//
// No span has any text of prompts, replies, arguments, outputs or files, nor an error's message, which can quote them:
// only names that stand in the pipeline or that the host has given, numbers, and codes.
//
// # No effect on runs
//
// Spans change nothing of a run: neither its result nor the tree depends on them. A processor or exporter that panics
// is reported to the error handler of package otel, and the run goes on. One that blocks is waited for, so give the
// provider a batching processor.
package millraceotel
