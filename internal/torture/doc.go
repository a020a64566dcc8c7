// Package torture has no code of its own, only tests that hurt: real processes that are killed, that race with each
// other and with programs that know nothing of millrace, and real file systems whose disk loses power. All of them go
// through the public face of the library, and all say with -v how much they have tried.
//
// How often each of them samples is for fstest.Runs to say. "go test" takes a few samples; with MILLRACE_SAMPLES=full
// in the environment, as the CI has it, there are many, and with a number as many as they are worth, which takes
// hours.
package torture
