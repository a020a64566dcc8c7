// Package agents holds the tests of pipelines that ask agents of the host: how they are spelled, the input of an
// agent, the use of its answer and of its changes, its cost, and that it is not asked twice.
package agents
