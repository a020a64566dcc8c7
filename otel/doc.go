// Package millraceotel makes OpenTelemetry spans for millrace: one for each run, plan, commit and restore, and below it
// one for each visit of a step. It is a separate module, so that millrace itself does not depend on OpenTelemetry.
//
//	runner := millraceotel.Instrument(millrace.Executor{Tools: tools}, millraceotel.WithTracerProvider(provider))
//	res, err := runner.Run(ctx, fsys, pipeline)
//
// # Life cycle
//
// Call [Instrument] once, with the executor of the host, and use the [Runner] in its place, for any number of runs,
// from any number of goroutines. A Runner needs no Close. The tracer provider belongs to the host, which shuts it down
// when its last run has returned; without [WithTracerProvider] it is the global provider of package otel.
//
// A span starts in the context that the caller passes to Run, Plan, Restore or [millrace.Plan.Commit], and ends before
// that method returns. Spans that a step's tool, agent or host action makes from its context are children of the span
// of that visit, and a command finds that span in its environment as TRACEPARENT, see [EnvFor].
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
// A step that was visited twice has two spans. A step that a jump passed over was not visited, and has none. A failed
// run or step has status Error and an error.type, which is a code of [millrace.ErrorCode]. This also holds for a failed
// step of a run that continued and succeeded.
//
// No span has any text of prompts, replies, arguments, outputs or files, nor an error's message, which can quote them.
// Spans only have names from the pipeline or from the host, numbers, and codes.
//
// # No effect on runs
//
// Spans do not affect a run: neither its result nor the tree depends on them. A panic of a processor or exporter is
// reported to the error handler of package otel, and the run continues. A run waits for a processor that blocks, so
// give the provider a batching processor.
package millraceotel
