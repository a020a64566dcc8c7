// Package tools holds the tests of pipelines that call tools of the host: what they may do, when they are called, how
// often, and what is kept of their answers.
package tools
