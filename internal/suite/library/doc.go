// Package library holds the tests of pipelines that are found by name, included in others, and refused in a step.
package library
