// Package agents holds the tests of pipelines that ask agents of the host: how prompts are spelled, the input of an
// agent, the use of its answer and of its changes, its cost, and that no agent is asked twice.
package agents
