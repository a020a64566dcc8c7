// Package agents holds the tests of pipelines that ask agents of the host: how they are spelled, what an agent is told,
// what becomes of its answer and of what it has changed, what it costs, and that it is not asked twice.
package agents
