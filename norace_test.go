//go:build !race

package millrace_test

// raceDetector says that the race detector watches, under which all takes ten times as long.
const raceDetector = false
