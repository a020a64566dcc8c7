// Package golden shows how to test pipelines: each archive below testdata is a test.
//
//	go test ./examples/golden
//	go test ./examples/golden -update
package golden
