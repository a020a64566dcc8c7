// Package torture has no code of its own, only tests that hurt: real processes that are killed, that race with each other and
// with programs that know nothing of millrace, and real file systems whose disk loses power. All of them go through the
// public face of the library, and all say with -v how much they have tried.
//
// How often each of them samples is for fstest.Runs to say. "go test -short" takes a few samples; the environment
// variable MILLRACE_TORTURE=1 as many as they are worth, which takes hours.
package torture
