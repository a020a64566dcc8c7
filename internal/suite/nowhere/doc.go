// Package nowhere holds the tests of texts that must not leak: secrets of the host, and prompts, arguments and texts of
// files. The tests search everything that a run leaves and reports.
package nowhere
