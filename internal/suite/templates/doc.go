// Package templates is a test-only package: it holds what templates of steps stand for in whole pipelines: fields,
// data, variables, the step before; and that templates of other languages stay what they are.
package templates
