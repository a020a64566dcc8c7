// Package schemacheck holds the JSON Schema of pipelines against an independent implementation of JSON Schema, and
// against the decoder. It is a module of its own so that the validator is not a dependency of millrace. There is
// nothing to import.
package schemacheck
