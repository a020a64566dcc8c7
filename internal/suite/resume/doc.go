// Package resume holds the tests of runs that are kept and taken up again: what a Checkpointer is told, what a run that
// was killed, held or has failed goes on with, and when it may not.
package resume
