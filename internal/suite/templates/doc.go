// Package templates is a test-only package: it checks the values of templates in whole pipelines: fields, data,
// variables, the previous step. Templates of other languages stay unchanged.
package templates
