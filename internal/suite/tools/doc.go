// Package tools holds the tests of pipelines that call tools of the host: the permissions of tools, when and how often
// they are called, and the use of their answers.
package tools
