//go:build nomodernize

package gocode

import "golang.org/x/tools/go/analysis"

// modernizers returns none: this program is built with the tag nomodernize.
func modernizers() (suite, others []*analysis.Analyzer) { return nil, nil }
