// Package definition holds the parts of a pipeline that need neither its steps nor a run: the codes of problems, the
// JSON forms of a budget, a sandbox, a way back and a time, their JSON Schemas, the paths into the data of a command,
// and the roots of templates that are not steps. The root package puts them together into a Pipeline.
package definition
