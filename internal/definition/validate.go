package definition

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/template"
	"github.com/millrace-go/millrace/tool"
)

// Draft is an unchecked pipeline.
type Draft struct {
	Name    string
	Options Options
	Steps   []Step
	// MaxAttempts is the largest number of attempts of a run, 0 if the pipeline has no limit; attemptsForm is its JSON
	// form.
	MaxAttempts  int
	attemptsForm *int
	attemptsName string // its name in the JSON, "" in Go
	// Bounds are checked like the steps; boundsForm is the JSON form of some of them.
	Bounds     Bounds
	boundsForm boundsForm
	// problems are all problems so far, including problems of decoding.
	problems []Problem
	warnings []Problem
	// moreProblems and moreWarnings count those beyond mostProblems.
	moreProblems, moreWarnings int
	// decoded means that params has already checked the parameters against their tags.
	decoded bool
	// specs are the specs of the actions during decoding, when the actions are not there yet.
	specs []actions.Spec
	// Variables are the values that steps may refer to.
	Variables      []Variable
	variablesKnown bool // they were checked
	// variableForms are the variables in JSON form.
	variableForms map[string]any
	index         map[string]int
	// tools are the tools that steps can call, if they are known.
	tools tool.Set
	// compiled has the data of the steps for their runs.
	compiled []Compiled
	// badTemplate means that a problem is about a template.
	badTemplate bool
	// said are pointers with problems, or of missing values whose name was misspelled: later problems there are
	// suppressed.
	said map[string]bool
}

// manySteps is the largest number of steps that are checked. A longer list is only reported as too long: checking each
// step against all others takes time, and nobody reads that many problems.
const manySteps = 10 * MaxSteps

func (d *Draft) checkName() {
	if strings.TrimSpace(d.Name) == "" {
		d.problem("/name", CodeNoName, "", "pipeline name is required")
	} else if !utf8.ValidString(d.Name) {
		d.problem("/name", CodeBadName, "", "pipeline name is not valid UTF-8")
	} else if n := utf8.RuneCountInString(d.Name); n > MaxNameLen {
		d.problem("/name", CodeLongName, "", "pipeline name too long (max %d, got %d)", MaxNameLen, n)
	}
}

// Check finds all problems and returns the pipeline if it has none.
func (d *Draft) Check() (Pipeline, error) {
	d.checkName()
	switch n := len(d.Steps); {
	case n == 0:
		d.problem("/steps", CodeNoSteps, "", "at least one step is required")
	case n > MaxSteps:
		d.problem("/steps", CodeManySteps, "split the pipeline, or use multi_edit for several edits of the same files",
			"too many steps (max %d, got %d)", MaxSteps, n)
	}
	if d.MaxAttempts < 0 || d.MaxAttempts > MaxAttempts {
		d.badMaxAttempts(d.MaxAttempts)
	}
	d.checkBounds()
	d.checkVariables()
	if len(d.Steps) <= manySteps {
		d.compile()
		d.checkIDs()
		for i := range d.Steps {
			d.checkStep(i)
		}
		d.warnUnreachable()
	}
	if len(d.problems) > 0 {
		return Pipeline{}, &Invalid{Problems: d.sorted(d.problems, d.moreProblems, "problems"), Template: d.badTemplate}
	}
	d.warnings = d.sorted(d.warnings, d.moreWarnings, "warnings")
	return Pipeline{
		Name: d.Name, Options: d.Options, Steps: d.Steps, Index: d.index, Warnings: d.warnings, Compiled: d.compiled,
		MaxAttempts: d.MaxAttempts, Bounds: d.Bounds, Variables: d.Variables,
	}, nil
}

// compile allocates the data of the steps for their runs, after the ids of all steps are known.
func (d *Draft) compile() {
	if d.compiled != nil {
		return
	}
	d.checkVariables()
	d.compiled = make([]Compiled, len(d.Steps))
	roots, fields := make([]template.Root, len(d.Steps)), template.ResultFields()
	for i, s := range d.Steps {
		roots[i] = template.Root{Name: s.ID, Fields: fields, Data: d.spec(i).Data}
	}
	for i, texts := range interpolate.New(roots) {
		texts.Offer(d.otherRoots(i)...)
		if name := d.spec(i).Name; name == "tool" || name == "prompt" {
			texts.Strict()
		}
		d.compiled[i].Texts = texts
	}
}

// spec returns the spec of the action of a step, even during decoding.
func (d *Draft) spec(i int) actions.Spec {
	if d.specs != nil {
		return d.specs[i]
	}
	if action := d.Steps[i].Action; action != nil {
		return action.Spec()
	}
	return actions.Spec{}
}

// templated reports whether a text in step i refers to a step of the pipeline, so that the caller skips its rules.
func (d *Draft) templated(i int, text string) bool {
	c := &d.compiled[i]
	is := !d.Steps[i].Raw && c.Texts.IsTemplate(text)
	c.Unchecked = c.Unchecked || is
	return is
}

// checkTemplates checks every reference of a step.
func (d *Draft) checkTemplates(i int, action params.Action, at string) {
	s := d.Steps[i]
	step := interpolate.Step{ID: s.ID, Action: action, Bind: s.Bind, Path: s.When.Path(), Raw: s.Raw}
	d.compiled[i].Texts.Check(step, func(p interpolate.Problem) {
		if p.Warning {
			d.warn(at+p.Pointer, p.Code, "%s", p.Message)
			return
		}
		known := len(d.problems)
		d.problem(at+p.Pointer, p.Code, p.Hint, "%s", p.Message)
		d.badTemplate = d.badTemplate || len(d.problems) > known
	})
}

// ValidID reports whether the id is allowed for a step or a run.
func ValidID(id string) bool {
	return id != "" && len(id) <= MaxIDLen && strings.Trim(id, idLetters) == ""
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

func (d *Draft) checkIDs() {
	d.index = make(map[string]int, len(d.Steps))
	for i, s := range d.Steps {
		at := fmt.Sprintf("/steps/%d/id", i)
		switch {
		case len(s.ID) > MaxIDLen:
			d.problem(at, CodeLongID, "", "step ID too long (max %d, got %d)", MaxIDLen, len(s.ID))
		case !ValidID(s.ID):
			d.problem(at, CodeBadID, "", "invalid step ID '%s' (only alphanumeric, -, and _ allowed)", s.ID)
		case s.ID == RootVars && len(d.Variables) > 0:
			d.problem(at, CodeReservedID, "give the step another id",
				"step '%s' has the name of the variables of the pipeline", s.ID)
		}
		if first, ok := d.index[s.ID]; ok {
			d.problem(at, CodeDuplicateID, "", "duplicate step ID '%s' at indices %d and %d", s.ID, first, i)
			continue
		}
		d.index[s.ID] = i
	}
}

func (d *Draft) checkStep(i int) {
	s := d.Steps[i]
	at := fmt.Sprintf("/steps/%d", i)
	d.checkRefs(i, at+"/input_from", s.InputFrom)
	for k, ref := range s.InputFromAll {
		if ref == "" {
			d.problem(fmt.Sprintf("%s/input_from_all/%d", at, k), CodeUnknownRef, "name an earlier step",
				"step '%s' has an empty name in input_from_all", s.ID)
			continue
		}
		d.checkRefs(i, fmt.Sprintf("%s/input_from_all/%d", at, k), ref)
		if slices.Contains(s.InputFromAll[:k], ref) {
			d.problem(fmt.Sprintf("%s/input_from_all/%d", at, k), CodeTwoInputs, "name it once",
				"step '%s' names input step '%s' twice", s.ID, ref)
		}
	}
	if s.InputFrom != "" && len(s.InputFromAll) > 0 {
		d.problem(at+"/input_from_all", CodeTwoInputs, "use one of them",
			"step '%s' has both input_from and input_from_all", s.ID)
	}
	d.checkRefs(i, at+"/condition/step_ref", s.When.StepRef())
	if !d.decoded && !s.When.IsZero() {
		for _, p := range s.When.Check() {
			d.problem(at+"/condition/"+p.Field, CodeBadCondition, p.Hint, "%s", p.Message)
		}
	}
	d.checkExpect(s, at+"/expect")
	d.checkFlow(i, at)
	if s.Action == nil {
		if !d.decoded {
			d.problem(at+"/action", CodeNoAction, "", "step '%s' has no action", s.ID)
		}
		return
	}
	action, _ := params.Of(s.Action) // checkParams reports an unusable action
	d.checkInput(s, action, at)
	d.checkParams(i, at+"/params")
	d.checkTemplates(i, action, at)
	d.checkTool(i)
	d.checkExecPaths(i)
}

// checkRefs checks that a step names an earlier step.
func (d *Draft) checkRefs(i int, pointer, ref string) {
	if ref == "" {
		return
	}
	switch j, ok := d.index[ref]; {
	case !ok:
		d.problem(pointer, CodeUnknownRef, d.compiled[i].Texts.Nearest(ref),
			"step '%s' references non-existent step '%s'", d.Steps[i].ID, ref)
	case j >= i:
		d.problem(pointer, CodeForwardRef, "", "step '%s' has forward reference to step '%s'", d.Steps[i].ID, ref)
	}
}

func (d *Draft) checkExpect(s Step, at string) {
	pair := func(what string, low, high *int) {
		if low != nil && *low < 0 || high != nil && *high < 0 {
			d.problem(at, CodeBadExpect, "", "step '%s': expect for %s must not be negative", s.ID, what)
		} else if low != nil && high != nil && *low > *high {
			d.problem(at, CodeBadExpect, "", "step '%s': expect min_%s %d is more than max_%s %d", s.ID, what, *low,
				what, *high)
		}
	}
	pair("files", s.Expect.MinFiles, s.Expect.MaxFiles)
	pair("edits", s.Expect.MinEdits, s.Expect.MaxEdits)
}

// checkInput checks that the step gets its files in a way that its action allows.
func (d *Draft) checkInput(s Step, action params.Action, at string) {
	spec := s.Action.Spec()
	param, given := givenFiles(s, action)
	inputs := s.TakesFiles()
	switch spec.Input {
	case actions.InputFiles:
		if !inputs && !given && !d.inputTold(spec, at) {
			d.problem(at+"/params", CodeNoInput, "name files, or an earlier step in input_from",
				"%s action requires 'files' parameter", spec.Name)
		}
	case actions.InputMany:
		switch {
		case d.inputTold(spec, at):
		case len(s.InputFromAll) == 1 || len(s.InputFromAll) == 0 && s.InputFrom != "":
			d.problem(at+"/input_from_all", CodeNoInput, "",
				"%s action requires at least 2 step references in 'input_from_all'", spec.Name)
		case len(s.InputFromAll) == 0:
			d.problem(at+"/input_from_all", CodeNoInput, "", "%s action requires 'input_from_all' parameter", spec.Name)
		}
	case actions.InputNone:
		if inputs {
			d.warn(at+"/input_from", CodeUnusedInput,
				"step '%s': %s takes no files from other steps; it only runs after them", s.ID, spec.Name)
		}
		return
	}
	if inputs && given {
		d.warn(at+"/params/"+param, CodeTwoInputs,
			"step '%s' has both %s and an input step; the files of the input step are taken", s.ID, param)
	}
}

// inputTold reports whether a problem about the files of a step was reported already.
func (d *Draft) inputTold(spec actions.Spec, at string) bool {
	for _, param := range FileParams(spec) {
		if d.isTold(at + "/params/" + param) {
			return true
		}
	}
	return d.isTold(at+"/input_from") || d.isTold(at+"/input_from_all")
}

func (d *Draft) checkParams(i int, at string) {
	s := d.Steps[i]
	name := s.Action.Spec().Name
	templated := func(text string) bool { return d.templated(i, text) }
	if !d.decoded {
		if name == "" {
			d.problem(at, CodeBadAction, "", "step '%s': the action's Spec has no name", s.ID)
		}
		if _, err := params.Describe(s.Action); err != nil {
			d.problem(at, CodeWrongType, "", "%s action cannot be used: %v", name, err)
			return
		}
		for _, p := range params.Check(name, s.Action, s.Bind, templated) {
			d.problem(at+p.Pointer, p.Code, p.Hint, "%s", p.Message)
		}
	}
	v, ok := s.Action.(actions.Validator)
	if !ok {
		return
	}
	bound := func(param string) bool { _, ok := s.Bind[param]; return ok }
	c := &actions.Check{IsTemplated: templated, IsBound: bound, HasInput: s.TakesFiles()}
	v.Validate(c)
	d.compiled[i].Kept = c.Keep
	if d.decoded {
		for _, p := range c.Warnings {
			d.warning(Problem{Pointer: at + rooted(p.Param), Code: p.Code, Hint: p.Hint, Message: p.Message, Err: p.Err})
		}
	}
	if len(c.Problems) == 0 {
		return
	}
	told := make(map[string]bool, len(d.problems))
	for _, p := range d.problems {
		told[p.Pointer] = true
	}
	for _, p := range c.Problems {
		p.Param = rooted(p.Param)
		if told[at+p.Param] {
			continue // one problem for each place: the tags have reported it already
		}
		told[at+p.Param] = true
		d.add(Problem{Pointer: at + p.Param, Code: p.Code, Hint: p.Hint, Message: p.Message, Err: p.Err})
	}
}
