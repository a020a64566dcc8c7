// Package resume holds the tests of runs that are kept and resumed: the input of a Checkpointer, where a run resumes
// that was killed, held or has failed, and when it may not.
package resume
