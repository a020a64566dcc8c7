// Package hostile is a test-only package: it holds one named test for each of the 109 hostile cases that millrace has to
// stand, names and links, special files and sizes, patterns and JSON, concurrent writers, crashes and disks that fail.
//
// The name of a test has the number of its case and says in words what is tried: TestHostile_004_siblingWithSamePrefix.
// All go through the public face, a pipeline in JSON that is decoded and run, on each kind of file system that the case
// means something on; see eachBackend. A test says what does not apply where, and why.
//
// The numbers are in these files:
//
//	001-029 names_*_test.go      what a path can be
//	030-046 links_*_test.go      where a link can lead
//	047-060 special_*_test.go    what is no plain file, and what is large
//	061-070 patterns_*_test.go, json_*_test.go
//	071-081 concurrent_*_test.go other writers, other runs
//	082-109 disk_*_test.go, recovery_*_test.go
//
// Case 39, a directory that is swapped for a link in a tight loop, is in internal/torture. TestComplete finds out whether
// a number is missing.
package hostile
