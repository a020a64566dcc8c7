package mcpserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

type fileEdits struct {
	Path  string      `json:"path"`
	Edits []writeArgs `json:"edits"`
}

// edited is the entry of one file in an answer.
type edited struct {
	Path         string               `json:"path"` // as the call named it
	Success      bool                 `json:"success"`
	Error        string               `json:"error,omitempty"`
	Code         string               `json:"code,omitempty"`
	Cause        string               `json:"cause,omitempty"`
	EditsApplied *int                 `json:"edits_applied,omitempty"`
	EditsFailed  *int                 `json:"edits_failed,omitempty"`
	FailedEdits  []actions.FailedEdit `json:"failed_edits,omitempty"`
	ContentHash  string               `json:"content_hash,omitempty"`
	Replacements *int                 `json:"replacements,omitempty"`
	WouldModify  *bool                `json:"would_modify,omitempty"`
	Preview      string               `json:"preview,omitempty"`
	Destination  string               `json:"destination,omitempty"`
	BackupID     string               `json:"backup_id,omitempty"`
}

// writing is one call that edits files by name.
type writing struct {
	*call
	single                bool
	asked                 []fileEdits
	of                    []editsOf // for each element of asked
	files                 []fileEdits
	dryRun, insistsOnHash bool
}

// editsOf locates the edits of a requested file among all edits of the step. A file that was requested twice is one
// file of the step.
type editsOf struct {
	name             string // of the file in the step
	file, first, end int    // its index, the index of its first edit, and the index after its last
}

// run edits the files. A file that cannot be edited is left unchanged, and the others are edited.
func (w *writing) run(ctx context.Context, args writeArgs) (*answer, error) {
	w.files = w.merged()
	w.dryRun, w.insistsOnHash = args.flag("dry_run"), w.cfg.RequireHash || args.flag("require_hash")
	p, err := w.pipeline()
	if err != nil {
		return nil, err
	}
	if w.dryRun {
		return w.previewed(ctx, p)
	}
	return w.change(ctx, p, func(res *millrace.Result) *answer {
		files := w.entries(res)
		data := map[string]any{"success": res.Success, "files": files, "backup_id": res.BackupID}
		return w.answered(res, files, files, data)
	})
}

// pipeline returns the step that edits the files.
func (w *writing) pipeline() (millrace.Pipeline, error) {
	params := map[string]any{"file_edits": w.files, "on_error": "continue"}
	if w.single && w.canAsk() {
		params["on_error"] = "stop" // so that the change that a person is asked about includes a read-only file
	}
	if w.insistsOnHash {
		params["require_hash"] = true
	}
	return w.step("edit_files", params, w.dryRun, w.pointers()...)
}

// merged returns the files of the step, each once.
func (w *writing) merged() []fileEdits {
	var files []fileEdits
	at := make(map[string]int)
	for _, asked := range w.asked {
		name := w.canonical(asked.Path)
		for _, edit := range asked.Edits {
			edit.sayCommand()
			w.sayRange(name, edit)
		}
		i, twice := at[name]
		if !twice {
			i = len(files)
			at[name] = i
			files = append(files, fileEdits{Path: name, Edits: []writeArgs{}})
		}
		first := len(files[i].Edits)
		files[i].Edits = append(files[i].Edits, asked.Edits...)
		w.of = append(w.of, editsOf{name, i, first, len(files[i].Edits)})
	}
	return files
}

// pointers maps pointers into the step to pointers into the arguments.
func (w *writing) pointers() [][2]string {
	if w.single {
		return [][2]string{{"/file_edits/0/edits/0", ""}, {"/file_edits/0/path", "/path"}}
	}
	var list [][2]string
	for i, of := range w.of {
		for k := of.first; k < of.end; k++ {
			from, to := pointer("file_edits", of.file, "edits", k), pointer("fileEdits", i, "edits", k-of.first)
			list = append(list, [2]string{from, to})
		}
	}
	for i, of := range slices.Backward(w.of) {
		list = append(list, [2]string{pointer("file_edits", of.file), pointer("fileEdits", i)})
	}
	slices.SortStableFunc(list, func(a, b [2]string) int { return len(b[0]) - len(a[0]) })
	return append(list, [2]string{"/file_edits", "/fileEdits"})
}

// entries returns the result for each file, with the names and in the order of the call.
func (w *writing) entries(res *millrace.Result) []edited {
	done := make(map[string]edited)
	for _, e := range editedFiles(res) {
		done[e.Path] = e
	}
	files := make([]edited, len(w.asked))
	for i, asked := range w.asked {
		of := w.of[i]
		e := done[of.name]
		e.Path = asked.Path
		var failed []actions.FailedEdit
		for _, f := range e.FailedEdits {
			if of.first <= f.Index && f.Index < of.end {
				f.Index -= of.first
				failed = append(failed, f)
			}
		}
		e.FailedEdits = failed
		applied, none := of.end-of.first, len(failed)
		if !e.Success {
			applied = 0
		}
		e.EditsApplied, e.EditsFailed = &applied, &none
		files[i] = e
	}
	return files
}

func editedFiles(res *millrace.Result) []edited {
	files := []edited{}
	for _, step := range res.Results {
		for _, f := range step.Files {
			e := edited{
				Path: f.Path, Success: f.Success, Error: f.Error, ContentHash: f.ContentHash,
				EditsApplied: f.EditsApplied, EditsFailed: f.EditsFailed, FailedEdits: f.FailedEdits,
				Replacements: f.Replacements, WouldModify: f.WouldModify, Preview: f.Preview,
			}
			if !f.Success {
				e.Code, e.Cause, e.Error = failedCode, f.Cause, report(f.Error)
				e.FailedEdits = slices.Clone(f.FailedEdits)
				for i := range e.FailedEdits {
					e.FailedEdits[i].Error = report(e.FailedEdits[i].Error)
				}
			}
			files = append(files, e)
		}
	}
	return files
}

// report returns the text of a report, with the documented wording if the host refuses access.
func report(text string) string {
	if why, ok := strings.CutPrefix(text, "access denied"); ok {
		return "Permission denied" + why
	}
	return text
}

// answered returns the answer to a change of files, with shown as its text and data as its data. For a single file,
// both are one object. The answer is a failure if no file could be edited.
func (w *writing) answered(res *millrace.Result, files []edited, shown any, data map[string]any) *answer {
	if w.single && len(files) == 1 {
		files[0].BackupID = res.BackupID
		shown = files[0]
		if object, err := asObject(files[0]); err == nil {
			maps.Copy(data, object)
		}
	}
	data["summary"] = res.String()
	a := &answer{texts: []string{asText(shown, w.cfg.MaxResult)}, data: data}
	if !w.single {
		a.note(strings.TrimRight(res.String()+"\n"+detailed(res), "\n"))
	} else {
		a.note(warningLines(res))
	}
	warned(data, res)
	if len(files) > 0 && !slices.ContainsFunc(files, func(f edited) bool { return f.Success }) {
		err := &actions.FileError{Path: files[0].Path, Err: errors.New(files[0].Error)}
		return w.failure(a, &nextError{err: err, code: failedCode, next: remedy(files[0].Cause)})
	}
	return a
}
