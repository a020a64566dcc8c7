package gocode

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/fieldalignment"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/inline"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/sortslice"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unreachable"
)

// modernizeName stands for all analyzers of the suite of go fix.
const modernizeName = "modernize"

// known returns the analyzers with fixes, by name: from x/tools, and from the host.
func known(own []*analysis.Analyzer) map[string][]*analysis.Analyzer {
	suite, others := modernizers()
	all := map[string][]*analysis.Analyzer{}
	if len(suite) > 0 {
		all[modernizeName] = suite
	}
	single := []*analysis.Analyzer{
		assign.Analyzer, composite.Analyzer, fieldalignment.Analyzer, hostport.Analyzer, inline.Analyzer,
		printf.Analyzer, sigchanyzer.Analyzer, sortslice.Analyzer, stringintconv.Analyzer, timeformat.Analyzer,
		unreachable.Analyzer,
	}
	for _, a := range slices.Concat(suite, others, single, own) {
		all[a.Name] = []*analysis.Analyzer{a}
	}
	return all
}

// byDefault are the analyzers of a step that names none, as in "go fix".
var byDefault = [...]string{modernizeName, "inline"}

// chosen returns the analyzers with these names, in their order, each once. unknown is the first unknown name, ""
// if all names are known.
func chosen(names []string, own []*analysis.Analyzer) (list []*analysis.Analyzer, unknown string) {
	if len(names) == 0 {
		names = byDefault[:]
	}
	all := known(own)
	for _, name := range names {
		found, ok := all[name]
		if !ok {
			return nil, name
		}
		for _, a := range found {
			if !slices.Contains(list, a) {
				list = append(list, a)
			}
		}
	}
	return list, ""
}

// analyzerNames lists the existing names.
func analyzerNames(own []*analysis.Analyzer) string {
	var names []string
	for name := range known(own) {
		names = append(names, name)
	}
	slices.Sort(names)
	list := strings.Join(names, ", ")
	if suite, _ := modernizers(); len(suite) == 0 {
		list += "; this program is built with the tag nomodernize, without the modernize analyzers"
	}
	return list
}
