// Package torture has no code, only long tests: real processes that are killed, that race with each other and with
// other programs, and real file systems whose disk loses power. All of them use the public interface of the library,
// and report with -v how much they have tried.
//
// fstest.Runs decides how many samples each of them takes. "go test" takes a few; with MILLRACE_SAMPLES=full in the
// environment, as in the CI, many; and with a number as many as are useful, which takes hours.
package torture
