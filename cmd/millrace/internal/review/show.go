package review

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
)

// wholeLines limits how much of a file that is decided as a whole is shown by default, in lines.
const wholeLines = 20

// show writes the current item, and the name of the file if it has changed.
func (r *Review) show() {
	f := r.files[r.at.file]
	if r.shown != r.at.file {
		r.shown = r.at.file
		name := r.Style.Paint(render.Bold, r.Style.Text(f.change.Path))
		note := fmt.Sprintf("  %d of %d files", r.at.file+1, len(r.files))
		if d := f.describe(); d != "" {
			note = "  " + r.Style.Text(d) + "," + note[1:]
		}
		fmt.Fprintf(r.out, "\n%s%s\n", name, r.Style.Paint(render.Dim, note))
		if f.unread != nil {
			r.say(f.unread.Error())
		}
	}
	if f.parts {
		_, _ = io.WriteString(r.out, r.Style.Hunk(r.item().hunk))
		return
	}
	if f.unread != nil || f.diff.Binary || f.change.Kind == change.Deleted {
		return
	}
	for i, h := range f.diff.Hunks {
		lines := strings.SplitAfter(r.Style.Hunk(h), "\n")
		if len(lines) > wholeLines {
			fmt.Fprintf(r.out, "%s%s\n", strings.Join(lines[:wholeLines], ""),
				r.Style.Paint(render.Dim, "… more: p shows all of it"))
			return
		}
		_, _ = io.WriteString(r.out, strings.Join(lines, ""))
		if more := len(f.diff.Hunks) - 1 - i; more > 0 && i == 2 {
			fmt.Fprintln(r.out, r.Style.Paint(render.Dim,
				fmt.Sprintf("… %d more hunks: p shows all, s decides one by one", more)))
			return
		}
	}
}

// describe describes the change of a file, except its hunks.
func (f *file) describe() string {
	c := f.change
	var words []string
	switch what := kindOf(cmp.Or(c.New.Kind, c.Old.Kind)); {
	case c.Kind == change.Renamed:
		words = append(words, "renamed from "+c.From)
		if c.Replaced.Kind != change.Absent {
			words = append(words, "replaces what is there")
		}
	case c.Kind == change.Created, c.Kind == change.Deleted:
		words = append(words, string(c.Kind)+what)
		if c.Permanent {
			words = append(words, "not kept in the trash")
		}
	case c.Old.Kind != c.New.Kind:
		words = append(words, fmt.Sprintf("%s becomes %s", c.Old.Kind, c.New.Kind))
	}
	if c.New.Kind == change.Symlink {
		words = append(words, "to "+c.New.Target)
	}
	if f.diff.Binary {
		words = append(words, fmt.Sprintf("binary, %d bytes", max(c.New.Size, 0)))
	}
	if c.Old.Kind == c.New.Kind && c.Old.Mode != c.New.Mode && c.New.Kind != change.Symlink {
		words = append(words, fmt.Sprintf("mode %04o becomes %04o", c.Old.Mode, c.New.Mode))
	}
	return strings.Join(words, ", ")
}

func kindOf(k change.Kind) string {
	switch k {
	case change.Dir:
		return " directory"
	case change.Symlink:
		return " link"
	default:
		return ""
	}
}

// question returns the subject of the prompt, and its keys.
func (f *file) question() (what, keys string) {
	const whole = "y,n,a,d,t,b,p,q,?"
	c := f.change
	switch {
	case f.parts:
		return "this hunk", "y,n,a,d,t,s,e,b,p,q,?"
	case c.Kind == change.Created:
		return "this new" + cmp.Or(kindOf(c.New.Kind), " file"), whole
	case c.Kind == change.Deleted:
		return "this deletion", whole
	case c.Kind == change.Renamed && len(f.diff.Hunks) > 0:
		return "this renaming with its edits", "y,n,a,d,t,s,b,p,q,?"
	case c.Kind == change.Renamed:
		return "this renaming", whole
	case c.Old.Kind == c.New.Kind && c.Old.Mode != c.New.Mode && len(f.diff.Hunks) > 0:
		return "this mode with its edits", "y,n,a,d,t,s,b,p,q,?"
	case c.Old.Kind == c.New.Kind && c.Old.Mode != c.New.Mode && !f.diff.Binary:
		return "this mode", whole
	default:
		return "this change of the whole file", whole
	}
}

// prompt writes the question, without a line end: the key follows it.
func (r *Review) prompt() {
	f := r.files[r.at.file]
	by := ""
	if steps := f.stepsOf(r.at.item); len(steps) > 0 {
		by = ", by " + strings.Join(steps, ", ")
	}
	what, keys := f.question()
	if r.item().of != nil {
		what, keys = "this match", "y,n,a,d,t,b,p,q,?"
	}
	text := fmt.Sprintf("(%d/%d %s%s) take %s [%s] ", r.at.item+1, len(f.items), f.change.Path, by, what, keys)
	fmt.Fprint(r.out, r.Style.Paint(render.Bold, r.Style.Text(text)))
}

// showFile writes the whole diff of the file.
func (r *Review) showFile() {
	f := r.files[r.at.file]
	var b bytes.Buffer
	err := render.Diff(&b, r.plan, r.Style, f.change.Path)
	if err != nil {
		r.say(err.Error())
		return
	}
	if b.Len() == 0 {
		r.say("this change has no diff: " + f.describe())
	}
	_, _ = b.WriteTo(r.out)
}

// tell shows the origins of the current item.
func (r *Review) tell() {
	f := r.files[r.at.file]
	by := f.change.By
	if f.parts {
		by = r.item().hunk.By
	}
	actions := make(map[string]string)
	for _, s := range r.plan.Result().Results {
		actions[s.StepID] = s.Action
	}
	for _, o := range by {
		action, ok := actions[o.Step]
		if !ok {
			r.say(fmt.Sprintf("by %s, number %d", o.Step, o.Edit+1))
			continue
		}
		r.say(fmt.Sprintf("by step %s (%s), edit %d", o.Step, action, o.Edit+1))
	}
	if len(by) == 0 {
		r.say(noStep)
	}
}

// noStep is the answer about a hunk of a plan without steps, such as the plan of an undo.
const noStep = "the plan has no step that made this"

// help lists the keys.
func (r *Review) help() {
	_, _ = io.WriteString(r.out, r.Style.Paint(render.Cyan, Help)+"\n")
}

// Help describes the keys, line by line.
const Help = `y  take this hunk
n  leave it
a  take this hunk and the rest of the file      d  leave them
A  take every undecided hunk                    D  leave them
t  take this hunk and all further hunks of the same steps
s  split it into smaller hunks, and a line into its matches
e  edit its new lines in an editor
b  go back, and undo the last decision
j  leave it undecided for now, and go to the next
p  show the whole diff of the file
i  show the steps, actions and edits that made it
q  stop: undecided hunks are left, taken hunks are kept
Q  abort: nothing is taken
?  this help`
