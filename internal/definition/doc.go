// Package definition makes pipelines: it decodes JSON into a draft, checks the draft, and closes it into a [Pipeline],
// which runs only read. It also has the codes of problems, the JSON forms and schemas of the parts of a pipeline, and
// the rules of variables, jumps, and included pipelines.
//
// The root package has the public types Step, Retry, Expect, Options, Variable and Problem with the same fields. It
// converts them when a caller passes or receives them.
package definition
