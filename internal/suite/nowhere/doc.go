// Package nowhere holds the tests of what must not get anywhere: secrets of the host, and prompts, arguments and texts
// of files where nothing of them belongs. They look through all that a run leaves and reports.
package nowhere
