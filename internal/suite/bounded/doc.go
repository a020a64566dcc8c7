// Package bounded holds the tests of what a run may spend: money, files, edits, bytes and time.
package bounded
