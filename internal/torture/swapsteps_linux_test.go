package torture

import (
	"fmt"
	"math/rand/v2"
	"path"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
)

// doorNames returns some of the names that lead through the swapped entries.
func doorNames(rnd *rand.Rand) []string {
	if rnd.IntN(5) == 0 {
		return []string{swappedFile}
	}
	var names []string
	all := doorFiles()
	n := 1
	if rnd.IntN(3) > 0 {
		n = 1 + rnd.IntN(len(all))
	}
	for _, i := range rnd.Perm(len(all))[:n] {
		names = append(names, path.Join(swappedDir, all[i]))
	}
	return names
}

func oneDoor(rnd *rand.Rand) string { return doorNames(rnd)[0] }

func safe(rnd *rand.Rand) string { return safeFiles()[rnd.IntN(len(safeFiles()))] }

// swapKinds returns the kinds of steps, each with its effect on a pipeline.
func swapKinds() map[string]func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
	return map[string]func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder{
		"search": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			dirs := []string{swappedDir, swappedDir + "/sub", swappedFile}
			content := rnd.IntN(2) == 0
			return b.Step(id, actions.Search{Path: dirs[rnd.IntN(len(dirs))], Pattern: "needle", IncludeContent: content, Lines: !content})
		},
		"list": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			dirs := []string{".", swappedDir, swappedDir + "/sub", swappedFile}
			return b.Step(id, actions.List{Path: dirs[rnd.IntN(len(dirs))], Depth: rnd.IntN(4) - 1})
		},
		"read_ranges": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.ReadRanges{Files: doorNames(rnd)})
		},
		"count_occurrences": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.CountOccurrences{Files: doorNames(rnd), Pattern: "needle"})
		},
		"edit": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.Edit{Files: doorNames(rnd), OldText: "needle", NewText: "needle and " + id})
		},
		"multi_edit": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.MultiEdit{Files: doorNames(rnd), Edits: []actions.TextEdit{{OldText: "needle", NewText: "needle, " + id}}})
		},
		"regex_transform": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.RegexTransform{Files: doorNames(rnd), Patterns: []actions.PatternEdit{{Pattern: "n(ee)dle", Replacement: "n${1}dle; " + id}}})
		},
		"copy": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.Copy{Files: doorNames(rnd), Destination: "out/" + id, PreservePaths: true})
		},
		"copy in": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.Copy{Files: []string{safe(rnd)}, Destination: swappedDir + "/in/" + id})
		},
		"rename": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.Rename{Files: []string{oneDoor(rnd)}, Destination: "out/" + id})
		},
		"rename in": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.Rename{Files: []string{safe(rnd)}, To: swappedDir + "/in/" + id})
		},
		"delete": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.Delete{Files: []string{oneDoor(rnd)}, Permanent: rnd.IntN(2) == 0})
		},
		"diff": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.Diff{FileA: oneDoor(rnd), FileB: oneDoor(rnd)})
		},
		"file_exists": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			return b.Step(id, actions.ReadRanges{Files: []string{"always"}}).When(condition.FileNotExists(oneDoor(rnd)))
		},
		"template": func(b millrace.Builder, id string, rnd *rand.Rand) millrace.StepBuilder {
			b = b.Step(id+"_in", actions.Search{Path: swappedDir, Pattern: "needle"}).Builder
			return b.Step(id, actions.Diff{FileA: "{{" + id + "_in.files[0]}}", FileB: oneDoor(rnd)}).When(condition.HasMatches(id + "_in"))
		},
	}
}

// swapPipeline returns a pipeline of up to 20 steps, and the kind of each.
func swapPipeline(rnd *rand.Rand, kinds []string) (millrace.Pipeline, map[string]string, error) {
	all, of := swapKinds(), make(map[string]string)
	b := millrace.New("swapped").Options(millrace.Options{Force: true, ContinueOnError: true})
	for n := range 6 + rnd.IntN(8) {
		id, kind := fmt.Sprintf("s%d", n), kinds[rnd.IntN(len(kinds))]
		b, of[id] = all[kind](b, id, rnd).Builder, kind
	}
	p, err := b.Build()
	return p, of, err
}
