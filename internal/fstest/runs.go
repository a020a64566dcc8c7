package fstest

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// TortureVariable is the environment variable that makes tests take as many samples as they are worth, instead of as many
// as one wants to wait for: "make torture" sets it to 1. A larger number is a factor.
const TortureVariable = "MILLRACE_TORTURE"

// Runs is how many times a test that takes samples of something large should do so: short with "go test -short" or under
// the race detector, torture where TortureVariable is set, and normal otherwise.
func Runs(short, normal, torture int) int {
	if n, err := strconv.Atoi(os.Getenv(TortureVariable)); err == nil && n > 0 {
		return n * torture
	}
	if testing.Short() || raceEnabled {
		return short
	}
	return normal
}

// CountsVariable is the environment variable that may name a file for what tests have counted.
const CountsVariable = "MILLRACE_COUNTS"

// Countf logs how much a test has tried, and adds it to the file that CountsVariable names, so that it is seen without -v too.
func Countf(t testing.TB, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	t.Log(text)
	name := os.Getenv(CountsVariable)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		t.Error(err)
		return
	}
	_, err = fmt.Fprintf(f, "%s: %s\n", t.Name(), text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		t.Error(err)
	}
}
