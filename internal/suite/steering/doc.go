// Package steering holds the tests of pipelines that decide where to go on: jumps, ways back, attempts, timeouts.
package steering
