package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// wrongResult means that two sides disagree that must agree. Then the figures are worth nothing.
type wrongResult struct{ what string }

func (e *wrongResult) Error() string { return "wrong result: " + e.what }

func wrong(format string, args ...any) error { return &wrongResult{fmt.Sprintf(format, args...)} }

// readLines returns the sorted lines of an output, with names in millrace's form.
func readLines(file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		all = append(all, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "./"))
	}
	slices.Sort(all)
	return all, nil
}

// difference returns the strings that are only in a and the strings that are only in b. Both lists are sorted.
func difference(a, b []string) (onlyA, onlyB []string) {
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0], b[0]) {
		case 0:
			a, b = a[1:], b[1:]
		case -1:
			onlyA, a = append(onlyA, a[0]), a[1:]
		default:
			onlyB, b = append(onlyB, b[0]), b[1:]
		}
	}
	return append(onlyA, a...), append(onlyB, b...)
}

// fileOf returns the name in a line of a list of files, or of path:count.
func fileOf(line string, counts bool) string {
	if i := strings.LastIndexByte(line, ':'); counts && i >= 0 {
		return line[:i]
	}
	return line
}

// binaryRule describes how a tool treats files with a NUL.
type binaryRule int

// binaryBlock is the number of bytes in which millrace looks for a NUL to recognize a binary file.
const binaryBlock = 8000

const (
	// asText: the tool searches all files. A file that only the tool lists must have a NUL in its first block, so
	// that it is binary for millrace.
	asText binaryRule = iota
	// stopsAtNUL: the tool stops at the first NUL of a file. A file that only millrace lists must have a NUL
	// after the first block, and a file that only the tool lists must have a NUL within it.
	stopsAtNUL
)

// sameLists compares the lists of files, or of path:count, of both sides, and returns a sentence with the number of
// equal entries.
func sameLists(tree, ours, theirs string, counts bool, rule binaryRule) (string, error) {
	a, err := readLines(ours)
	if err != nil {
		return "", err
	}
	b, err := readLines(theirs)
	if err != nil {
		return "", err
	}
	onlyA, onlyB := difference(a, b)
	for _, line := range onlyB {
		if at, err := firstNUL(filepath.Join(tree, fileOf(line, counts))); err != nil || at < 0 || at >= binaryBlock {
			return "", wrong("%q is only in the other's list (%d against %d lines), and not for being binary (%v)",
				line, len(a),
				len(b), err)
		}
	}
	for _, line := range onlyA {
		if at, err := firstNUL(filepath.Join(tree, fileOf(line, counts))); rule != stopsAtNUL || err != nil ||
			at < binaryBlock {
			return "", wrong("%q is only in millrace's list (%d against %d lines) (%v)", line, len(a), len(b), err)
		}
	}
	said := fmt.Sprintf("%s files", thousands(len(a)-len(onlyA)))
	if n := len(onlyA) + len(onlyB); n > 0 {
		said += fmt.Sprintf(" (and %d with a NUL)", n)
	}
	return said, nil
}

// equalLists is sameLists for two outputs that must be equal.
func equalLists(ours, theirs string) (int, error) {
	a, err := readLines(ours)
	if err != nil {
		return 0, err
	}
	b, err := readLines(theirs)
	if err != nil {
		return 0, err
	}
	if onlyA, onlyB := difference(a, b); len(onlyA)+len(onlyB) > 0 {
		return 0, wrong("%d lines against %d; only in the first: %.200q, in the second: %.200q", len(a), len(b), onlyA,
			onlyB)
	}
	return len(a), nil
}

// firstNUL returns the place of the first NUL in a file, or -1.
func firstNUL(name string) (int, error) {
	f, err := os.Open(name)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return bytes.IndexByte(data, 0), err
}

// sameTrees compares two trees byte for byte, by their digests.
func sameTrees(what, a string, want Digest) error {
	got, err := digest(a)
	if err != nil {
		return err
	}
	if got != want {
		return wrong("%s: %s has %v, not %v", what, a, got, want)
	}
	return nil
}
