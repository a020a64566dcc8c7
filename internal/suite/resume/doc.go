// Package resume holds the tests of runs that are stored and resumed: the input of a Checkpointer, the step at which a
// killed, held or failed run resumes, and when a run must not resume.
package resume
