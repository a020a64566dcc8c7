// Package hostile is a test-only package: it holds one named test for each hostile case that millrace has to stand:
// names and links, special files and sizes, patterns and JSON, concurrent writers, planted state, crashes and disks
// that fail.
//
// The name of a test describes the case in words: TestHostile_a_sibling_with_the_same_prefix. All go through the public
// face, a pipeline in JSON that is decoded and run, on each kind of file system that the case means something on; see
// eachBackend. A test names the backends that it skips, and the reason.
//
// The name of a file says where its cases stand: names, links, special files, patterns, json, concurrent, disk,
// recovery, planted, policy and plans. Shared code is in the files that begin with "helpers".
//
// The cases are listed in docs/hostile.md, which TestComplete holds against the tests. A few that take long are in
// internal/torture.
package hostile
