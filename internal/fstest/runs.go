package fstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// SamplesVariable is the environment variable that sets how many samples the random tests take. Unset means few, for a
// person who waits. "quick" is for the CI's repeated runs, under the race detector and on 32 bits, and "full" for the
// CI's main run. A number means that many times the full worth of a test, which takes hours ("make torture" sets it).
const SamplesVariable = "MILLRACE_SAMPLES"

// Runs is how many times a test that takes samples of something large does so: as SamplesVariable says, and always
// quick with "go test -short" or under the race detector, unless the variable is a number. It panics if the variable
// is none of what it may be.
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

// Slowed is how large an input is where code takes several times as long, under the race detector and on 32 bits, and
// otherwise usual. It is for tests of one goroutine: what is looked for there shows in a small input as well.
func Slowed(small, usual int) int {
	if raceEnabled || math.MaxInt == math.MaxInt32 {
		return small
	}
	return usual
}

// ByItself is how much a test tries: small in a plain "go test", where somebody waits for it, and otherwise usual. It
// is for tests that take too long there, though they do not take samples of another size.
func ByItself(small, usual int) int {
	if os.Getenv(SamplesVariable) == "" {
		return small
	}
	return usual
}

// OneGoroutine skips a long test in which the race detector has nothing to find, where it is on.
func OneGoroutine(t testing.TB) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine does all of it: there is nothing for the race detector to find")
	}
}

// Tortured reports whether tests that take samples take as many as they are worth.
func Tortured() bool { return Runs(0, 0, 1) > 0 }

// SeedVariable is the environment variable that gives tests that take random samples another seed.
const SeedVariable = "MILLRACE_SEED"

// Seed is where a test that takes random samples begins, and logs it: the same each time, so that what fails is not
// chance, or what SeedVariable says, or at random where SamplesVariable is a number.
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

// CountsVariable is the environment variable that may name a file for what tests have counted.
const CountsVariable = "MILLRACE_COUNTS"

// Countf logs how much a test has tried, and adds it to the file that CountsVariable names, so that it is seen
// without -v too.
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
