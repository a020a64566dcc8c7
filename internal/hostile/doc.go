// Package hostile is a test-only package: it has one named test for each hostile case that millrace must withstand:
// names and links, special files and sizes, patterns and JSON, concurrent writers, planted state, crashes and failing
// disks.
//
// The name of a test describes the case in words: TestHostile_a_sibling_with_the_same_prefix. All tests use the public
// interface, a pipeline in JSON that is decoded and run, on each kind of file system for which the case has a meaning;
// see eachBackend. A test names the backends that it skips, and the reason.
//
// The name of a file is the topic of its cases: names, links, special files, patterns, json, concurrent, disk,
// recovery, planted, policy and plans. Shared code is in the files that begin with "helpers".
//
// The cases are listed in docs/hostile.md; TestComplete compares that list with the tests. A few slow tests are in
// internal/torture.
package hostile
