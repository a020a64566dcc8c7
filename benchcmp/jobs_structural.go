package main

import (
	"context"
	"os"
	"path/filepath"
)

// structuralJobs compare structural patterns with the search for their rarest word, and with ast-grep, on the sources
// of Kubernetes.
func structuralJobs() []job {
	return []job{
		{"search/structural", nil, structuralSearch},
		{"search/structural-ast-grep", []string{"ast-grep"}, structuralBeside},
		{"edit/structural", []string{"ast-grep"}, structuralEdit},
		{"growth/structural", nil, structuralGrowth},
	}
}

const (
	shape     = "fmt.Errorf(:[a...])"
	shapeWord = "Errorf"
	// The grammar of Go reads a call that stands alone as a conversion, so ast-grep is given code around it.
	shapeOfAst = "func t() { fmt.Errorf($$$A) }"
)

// shapes is the tree that structural patterns are looked for in.
func (b *bench) shapes() string {
	dir := filepath.Join(b.tree, smallSources()[0].dir())
	if _, err := os.Stat(dir); err != nil {
		return b.tree
	}
	return dir
}

func inGo(of object) object {
	of["params"].(object)["file_types"] = []string{".go"}
	return of
}

func structuralSearch(ctx context.Context, b *bench) (Outcome, error) {
	const name = "search/structural"
	ours := b.ours(name, b.shapes(), encode(inGo(searching(shape, "structural", false, true))), "-print", "counts")
	word := b.ours(name+"-word", b.shapes(), encode(inGo(searching(shapeWord, "literal", false, true))), "-print",
		"counts")
	left, right, err := b.pairs(ctx, b.warm, always(ours), always(word), nil)
	if err != nil {
		return Outcome{}, err
	}
	other := b.ours(name+"-other", b.shapes(), encode(inGo(searching(shape, "structural", false, true))), "-print",
		"counts", "-slow")
	if _, err := b.run(ctx, other); err != nil {
		return Outcome{}, err
	}
	n, err := equalLists(ours.out, other.out)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Versus: []Versus{versus("millrace: a search for "+shapeWord, thousands(n)+" files", 3, left,
		right)}}, nil
}

// astGrep is ast-grep's side as a command.
func (b *bench) astGrep(out, dir string, flags ...string) command {
	args := []string{b.tools["ast-grep"].path, "run", "-l", "go", "-p", shapeOfAst, "--selector", "call_expression",
		"--no-ignore", "hidden", "--no-ignore", "vcs", "--no-ignore", "dot"}
	return command{dir: dir, out: b.out(out), args: append(args, flags...)}
}

func structuralBeside(ctx context.Context, b *bench) (Outcome, error) {
	const name = "search/structural-ast-grep"
	ours := b.ours(name, b.shapes(), encode(inGo(searching(shape, "structural", false, true))), "-print", "files")
	theirs := b.astGrep(name+"-theirs", b.shapes(), "--files-with-matches", ".")
	left, right, err := b.pairs(ctx, b.warm, always(ours), always(theirs), nil)
	if err != nil {
		return Outcome{}, err
	}
	verified, err := sameLists(b.shapes(), ours.out, theirs.out, false, asText)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Versus: []Versus{versus("ast-grep run -p "+quote(shapeOfAst), verified, 0.1, left, right)}}, nil
}

// structuralEdit has both sides change the name of a function in copies that are made new for each round.
func structuralEdit(ctx context.Context, b *bench) (Outcome, error) {
	const name = "edit/structural"
	left, right := b.work("shapes-left"), b.work("shapes-right")
	fresh := func(dir string) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			if err := copyTree(b.shapes(), dir); err != nil {
				return err
			}
			return b.settle(ctx)
		}
	}
	edit := encode(inGo(searching(shape, "structural", false, true)),
		object{"id": "fix", "action": "edit", "input_from": "find",
			"params": object{"old_text": shape, "new_text": "fail.Errorf(:[a])", "mode": "structural"}})
	ours := side{prepare: fresh(left),
		command: always(b.ours(name, left, edit, "-do", "run", "-print", "nothing")).command}
	theirs := side{prepare: fresh(right),
		command: always(b.astGrep(name+"-theirs", right, "-r", "fail.Errorf($$$A)", "-U", ".")).command}
	leftRuns, rightRuns, err := b.pairs(ctx, b.warm, ours, theirs, nil)
	if err != nil {
		return Outcome{}, err
	}
	changed, err := digest(right)
	if err != nil {
		return Outcome{}, err
	}
	if err := sameTrees(name, left, changed); err != nil {
		return Outcome{}, err
	}
	return Outcome{Versus: []Versus{versus("ast-grep run -U", "trees equal", 0.1, leftRuns, rightRuns)}}, nil
}

// structuralGrowth is the growth with the size of one file, all of which is compared.
func structuralGrowth(ctx context.Context, b *bench) (Outcome, error) {
	const places = 100
	return b.growthBy(ctx, "growth/structural", "search, by places in one file of 256 KiB for each 100: ", places,
		func(n int) (string, string, int, error) {
			dir, err := b.generated(1, n/places*256<<10, n, true)
			return dir, encode(searching(":[[x]] := "+needle, "structural", false, true)), n, err
		})
}
