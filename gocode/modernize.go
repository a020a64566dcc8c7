//go:build !nomodernize

package gocode

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/modernize"
)

// modernizers returns the analyzers of the suite of go fix, and others with fixes from the same package. A program that
// links the package parses its documentation at each start, which takes 11 ms, and 88 ms with the race detector. The
// build tag nomodernize leaves the package out.
func modernizers() (suite, others []*analysis.Analyzer) {
	return modernize.Suite, []*analysis.Analyzer{
		modernize.AppendClippedAnalyzer, modernize.BLoopAnalyzer, modernize.FmtAppendfAnalyzer,
		modernize.SlicesDeleteAnalyzer,
	}
}
