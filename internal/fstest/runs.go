package fstest

import (
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
