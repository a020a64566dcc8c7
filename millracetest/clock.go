package millracetest

import (
	"testing"
	"testing/synctest"
	"time"
)

// Clock runs a test in which time passes only while all goroutines wait: a backoff of an hour takes no time. wait is
// how long the test must wait in total; any other duration fails the test. The time starts at midnight UTC of
// 2000-01-01. The test runs as in [synctest.Test]: it may not call Run, Parallel or Deadline of its t, and channels
// that it waits for must be made in it. Use a tree in memory, because no time passes during a wait for the disk or for
// a process.
//
//	millracetest.Clock(t, time.Hour, func(t *testing.T) { // two attempts with a backoff of an hour
//		x := millrace.Executor{Agents: map[string]agent.Agent{"": millracetest.Agent(t,
//			millracetest.Answer{Err: errors.New("busy")}, millracetest.Answer{})}}
//		_, err := x.Run(t.Context(), millracetest.Tree(t, ""), p)
//		...
//	})
func Clock(t *testing.T, wait time.Duration, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		began := time.Now()
		test(t)
		waited(t, time.Since(began), wait)
	})
}

// waited compares how long a test waited with the wanted duration.
func waited(t testing.TB, got, want time.Duration) {
	t.Helper()
	if got != want {
		t.Errorf("millracetest: the test has waited %v, want %v", got, want)
	}
}
