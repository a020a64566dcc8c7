// Package mcpserver serves millrace to agents over the Model Context Protocol.
//
// A Server has a tree, the policy of a [millrace.Executor], and the tools through which a model looks at the tree,
// plans a change, reviews it, applies it and takes it back. A call of a tool becomes a pipeline that a
// [millrace.Decoder] reads, so it can do nothing that a pipeline cannot, and mistakes are answered as those of a
// pipeline are.
//
// The model is a stranger: what it says may have been written by a file that it has read. Whatever it says, it does not
// leave the tree, nor what Executor.AllowedPaths and DeniedPaths leave of it, does not pass Executor.Ceiling, and does
// not reach the state directory. Where a change needs force, a person is asked, see Config.AllowForce.
package mcpserver
