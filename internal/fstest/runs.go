package fstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// SamplesVariable is the environment variable for the number of samples in random tests. Unset means few, for a person
// who waits. "quick" is for the CI's repeated runs, under the race detector and on 32 bits, and "full" for the CI's
// main run. A number multiplies a test's largest useful number of samples, which takes hours ("make torture" sets it).
const SamplesVariable = "MILLRACE_SAMPLES"

// Runs returns the number of samples for a test of something large, according to SamplesVariable. It is always quick
// with "go test -short" or under the race detector, unless the variable is a number. It panics if the variable has an
// unknown value.
func Runs(quick, full, torture int) int {
	said := os.Getenv(SamplesVariable)
	switch n, err := strconv.Atoi(said); {
	case err == nil && n > 0:
		return n * torture
	case said != "" && said != "quick" && said != "full":
		panic(fmt.Sprintf("%s is %q; it may be quick, full, or a number from 1", SamplesVariable, said))
	case said != "full" || testing.Short() || raceEnabled:
		return quick
	}
	return full
}

// Slowed returns the size of an input: small under the race detector and on 32 bits, where code takes several times as
// long, otherwise usual. It is for tests with one goroutine, whose faults also show in a small input.
func Slowed(small, usual int) int {
	if raceEnabled || math.MaxInt == math.MaxInt32 {
		return small
	}
	return usual
}

// ByItself returns the size of a test: small in a plain "go test", where somebody waits for it, otherwise usual. It
// is for tests that take too long there but have no number of samples.
func ByItself(small, usual int) int {
	if os.Getenv(SamplesVariable) == "" {
		return small
	}
	return usual
}

// OneGoroutine skips a long test under the race detector, which finds nothing in a single goroutine.
func OneGoroutine(t testing.TB) {
	t.Helper()
	if raceEnabled {
		t.Skip("the test has only one goroutine: the race detector finds nothing in it")
	}
}

// Tortured reports whether tests take their largest useful number of samples.
func Tortured() bool { return Runs(0, 0, 1) > 0 }

// SeedVariable is the environment variable with another seed for tests that take random samples.
const SeedVariable = "MILLRACE_SEED"

// Seed returns the seed of a test that takes random samples, and logs it. It is normally constant, so that a failure
// can be repeated. SeedVariable overrides it; if SamplesVariable is a number, the seed is random.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if said := os.Getenv(SeedVariable); said != "" {
		n, err := strconv.ParseUint(said, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", SeedVariable, err)
		}
		seed = n
	} else if Tortured() {
		seed = rand.Uint64()
	}
	t.Logf("%s=%d", SeedVariable, seed)
	return seed
}

// CountsVariable is the environment variable that may name a file for the counts of tests.
const CountsVariable = "MILLRACE_COUNTS"

// Countf logs how much a test has tried, and appends it to the file in CountsVariable, so that it is visible without
// -v.
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
