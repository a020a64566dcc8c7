package millracetest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recording is a test that can fail without failing the outer test.
type recording struct {
	testing.TB
	mu       sync.Mutex
	text     strings.Builder
	failed   bool
	cleanups []func()
}

func (r *recording) note(fails bool, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = r.failed || fails
	fmt.Fprintln(&r.text, text)
}

func (r *recording) Helper()                       {}
func (r *recording) Log(args ...any)               { r.note(false, fmt.Sprint(args...)) }
func (r *recording) Logf(form string, args ...any) { r.note(false, fmt.Sprintf(form, args...)) }
func (r *recording) Error(args ...any)             { r.note(true, fmt.Sprint(args...)) }
func (r *recording) Errorf(form string, args ...any) {
	r.note(true, fmt.Sprintf(form, args...))
}
func (r *recording) Fatal(args ...any)               { r.Error(args...); runtime.Goexit() }
func (r *recording) Fatalf(form string, args ...any) { r.Errorf(form, args...); runtime.Goexit() }
func (r *recording) Cleanup(f func())                { r.cleanups = append(r.cleanups, f) }
func (r *recording) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// record runs a test to its end, with its cleanups, and returns its log and whether it failed.
func record(t *testing.T, test func(t testing.TB)) (log string, failed bool) {
	t.Helper()
	r := &recording{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	done = make(chan struct{})
	go func() {
		defer close(done)
		for _, f := range slices.Backward(r.cleanups) {
			f()
		}
	}()
	<-done
	return r.text.String(), r.failed
}

// fails checks that a test fails and that its log contains all the words.
func fails(t *testing.T, test func(t testing.TB), words ...string) {
	t.Helper()
	log, failed := record(t, test)
	if !failed {
		t.Errorf("the test does not fail:\n%s", log)
	}
	for _, word := range words {
		if !strings.Contains(log, word) {
			t.Errorf("no %q in the log of the test:\n%s", word, log)
		}
	}
}

// passes checks that a test does not fail, and returns its log.
func passes(t *testing.T, test func(t testing.TB)) string {
	t.Helper()
	log, failed := record(t, test)
	if failed {
		t.Errorf("the test fails:\n%s", log)
	}
	return log
}
