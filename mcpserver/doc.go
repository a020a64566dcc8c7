// Package mcpserver serves millrace to agents over the Model Context Protocol.
//
// A Server has a tree, the policy of a [millrace.Executor], and the tools with which a model reads the tree, plans a
// change, reviews it, applies it and undoes it. A call of a tool becomes a pipeline that a [millrace.Decoder] reads, so
// it can do nothing that a pipeline cannot, and its mistakes are reported like mistakes of a pipeline.
//
// The model is not trusted: a file that it has read may have told it what to send. A call never leaves the tree or the
// paths that Executor.AllowedPaths and DeniedPaths leave open, never exceeds Executor.Ceiling, and never reaches the
// state directory. A change that needs force is put to a person, see Config.AllowForce.
package mcpserver
