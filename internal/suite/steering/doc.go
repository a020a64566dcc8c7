// Package steering holds the tests of pipelines that choose their next step: jumps, ways back, attempts, timeouts.
package steering
