package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/library"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/tool"
)

// MaxPipelineBytes is the longest JSON text that a [Decoder] reads unless it says otherwise: 16 MiB.
const MaxPipelineBytes = definition.MaxPipelineBytes

// Decoder reads pipelines from JSON. The zero value has the built-in actions. It is safe for concurrent use.
type Decoder struct {
	// Actions are the actions that steps may name. The zero Registry means [actions.Builtin].
	Actions actions.Registry
	// Tools are those that steps may call, so that their names and arguments are checked as well. The zero Set means
	// that they are not known yet; then they are checked when a run begins.
	Tools tool.Set
	// Lenient repairs what models and other systems send, and then decodes strictly: code fences, trailing commas,
	// comments, quotes, names and actions that are almost right, numbers in quotes, a string for a list. docs/json.md
	// has the table. Each repair is a warning of the pipeline. An ambiguous value, or a guard under an unknown name, is
	// refused. JSON that strict decoding accepts means the same, without a warning; only a description that sets an
	// option, such as "dry run", is refused. False is strict.
	Lenient bool
	// Name is the name of a pipeline that has none of its own, such as that of its file. Empty means that a pipeline
	// without a name is refused.
	Name string
	// MaxBytes is the longest text, in bytes, that is read. A longer one is a *ValidationError with the code
	// "json_too_large". Zero means MaxPipelineBytes.
	MaxBytes int
	// MaxDepth is how deeply lists and objects may be nested. More is a *ValidationError with the code "json_too_deep".
	// Zero means 100; negative, or more than 10,000, means 10,000.
	MaxDepth int
	// Locate returns the place of a value, for callers that have made the JSON from a text in another form: its lines
	// and columns, both from 1, become those of problems and warnings. The pointer leads to a value that there is in
	// the JSON text, also where Lenient gave it another name or place, "" to the whole; name asks for the place of the
	// value's name and not of the value. It is called from the goroutine that calls Decode. Nil means that places are
	// those in the JSON text.
	Locate func(pointer string, name bool) (line, column int)
}

// Decode reads a pipeline with the zero [Decoder].
func Decode(data []byte) (Pipeline, error) { return Decoder{}.Decode(data) }

// Decode reads a pipeline. It is strict: unknown and repeated names, null, wrong types, invalid UTF-8 and trailing
// data are refused. The error is a *ValidationError that lists every problem with its JSON pointer, line and column;
// a text that is not JSON at all gives one problem, "Invalid pipeline JSON: ...". Fields that are absent have their
// documented defaults.
func (d Decoder) Decode(data []byte) (Pipeline, error) {
	return pipelineOf(definition.Decoder(d).Decode(data))
}

// Schema returns the JSON Schema (draft 2020-12) of the pipelines that the decoder takes, made from its registry and,
// if it has some, its tools. It says as much as a schema can; what it cannot, such as that a step refers to an earlier
// one, Decode checks.
func (d Decoder) Schema() ([]byte, error) { return definition.Decoder(d).Schema() }

// ActionDoc describes an action for people and models. It belongs to the caller.
type ActionDoc struct {
	// Name is the word in a step's "action", Summary a line of what it does.
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// ReadOnly reports that it never writes.
	ReadOnly bool `json:"read_only"`
	// Input is the source of its files.
	Input actions.Input `json:"-"`
	// Params are its parameters in the order of their declaration, each followed by those within it.
	Params []ParamDoc `json:"params"`
}

// ParamDoc describes a parameter of an action.
type ParamDoc struct {
	// Name is the name in "params"; of one in a list of objects "edits[].old_text", of one in an object "range.start".
	Name string `json:"name"`
	// Type describes what it takes: "a string", "true or false", "a whole number", "a list of strings".
	Type string `json:"type"`
	// Required means that it must be given.
	Required bool `json:"required,omitempty"`
	// Bytes reports that it takes any bytes: in JSON, {"base64": "..."} stands for bytes that are not UTF-8.
	Bytes bool `json:"bytes,omitempty"`
	// Enum are the strings that it can be, nil for any.
	Enum []string `json:"enum,omitempty"`
	// Doc is what it means, in a sentence or two, with its default.
	Doc string `json:"doc,omitempty"`
}

// Describe returns what there is to know of an action that the decoder takes. ok is false if there is no such action.
func (d Decoder) Describe(action string) (doc ActionDoc, ok bool) {
	prototype, ok := d.Actions.OrBuiltin().Lookup(action)
	if !ok {
		return ActionDoc{}, false
	}
	object, err := params.Describe(prototype)
	if err != nil {
		return ActionDoc{}, false
	}
	spec := prototype.Spec()
	doc = ActionDoc{Name: action, Summary: spec.Summary, ReadOnly: spec.ReadOnly, Input: spec.Input,
		Params: []ParamDoc{}}
	doc.add("", object)
	return doc, true
}

func (doc *ActionDoc) add(within string, object *form.Form) {
	for _, f := range object.Fields {
		inner, dot := f.Form.Innermost(), "."
		doc.Params = append(doc.Params, ParamDoc{Name: within + f.Name, Type: f.Wants, Required: f.Required,
			Bytes: f.Bytes, Enum: inner.Enum, Doc: f.Doc})
		if f.Form.Kind == form.List {
			dot = "[]."
		}
		doc.add(within+f.Name+dot, inner)
	}
}

// DescribeTool returns what there is to know of a tool that the decoder has: its Params are those in "args", and
// ReadOnly reports that it is pure. ok is false if there is no such tool.
func (d Decoder) DescribeTool(name string) (doc ActionDoc, ok bool) {
	spec, ok := d.Tools.Spec(name)
	if !ok {
		return ActionDoc{}, false
	}
	doc = ActionDoc{Name: name, Summary: spec.Summary, ReadOnly: spec.Pure, Input: actions.InputNone,
		Params: []ParamDoc{}}
	if proto, ok := definition.ArgsOf(spec); ok {
		if object, err := params.Describe(proto); err == nil {
			doc.add("", object)
		}
	}
	return doc, true
}

// Library finds pipelines by their names, in directories with a file NAME.json for each. It reads and never writes. It
// is safe for concurrent use as far as its file systems are.
type Library struct {
	// Decoder reads the files, and what [Library.Open] is given as JSON. A file longer than its MaxBytes is an error.
	Decoder Decoder
	// YAML reads files NAME.yaml and NAME.yml: it is Decode of package yamlform, or another function that gives the
	// JSON to the Decoder. Nil leaves these files out.
	YAML func(d Decoder, text []byte) (Pipeline, error)
	// Dirs are the directories in the order of their rank: the first that has a file of the name wins, so that the
	// pipelines of a project can take the place of those of the user. A directory that does not exist is empty.
	Dirs []LibraryDir
}

// LibraryDir is a directory of pipelines. It may have at most 10,000 entries.
type LibraryDir struct {
	// Name is what messages and entries call it, such as "project". Empty means Path.
	Name string
	// FS is the file system that it is in. Nil is an error, never the disk.
	FS afero.Fs
	// Path leads to it; empty means the root of FS. Links on the way to it are followed as far as FS lets them, and
	// those in it only while they stay in it. So a directory in the project of a stranger is better named below an
	// [fsutil.OpenRoot] of the project, which nothing leads out of, than on an afero.OsFs.
	Path string
}

// LibraryEntry is a file of a [Library].
type LibraryEntry struct {
	// Name is the name of the pipeline's file without its end, by which Load finds it; Dir is the name of its
	// directory.
	Name, Dir string
	// File is the name of the file in the directory, such as "fix.yaml".
	File string
	// Shadowed means that a directory of a higher rank has the name too, so that Load does not come here.
	Shadowed bool
	// Pipeline is what the file holds, if Err is nil. Its own name may be another.
	Pipeline Pipeline
	// Err is why the file cannot be used, nil if it can.
	Err error
}

// libraryError reports a pipeline that a library lacks or cannot read.
type libraryError struct {
	// Name is the pipeline's, "" if it is the directory that cannot be read. Dir is the name of the directory, "" if it
	// is about none of them.
	Name, Dir string
	Err       error
}

// Error names the pipeline, the directory and the reason.
func (e *libraryError) Error() string {
	switch {
	case e.Dir == "":
		return e.Err.Error()
	case e.Name == "":
		return fmt.Sprintf("pipelines in %s: %v", fsutil.Visible(e.Dir), e.Err)
	}
	return fmt.Sprintf("pipeline '%s' in %s: %v", fsutil.Visible(show.Name(e.Name)), fsutil.Visible(e.Dir), e.Err)
}

// Unwrap returns the reason.
func (e *libraryError) Unwrap() error { return e.Err }

// Code returns "invalid_pipeline", or "canceled" if Err is that of a context.
func (e *libraryError) Code() string {
	return errorform.UnlessCanceled(e.Err, errorform.InvalidPipeline)
}

// Open returns the pipeline that a definition stands for: a text that begins with "{" is the JSON of one, any other is
// the name of one for [Library.Load]. If the Decoder is lenient, a text with a "{" anywhere is JSON.
func (l Library) Open(ctx context.Context, definition string) (Pipeline, error) {
	if !library.IsJSON(definition, l.Decoder.Lenient) {
		return l.Load(ctx, definition)
	}
	if ctx.Err() != nil {
		return Pipeline{}, context.Cause(ctx)
	}
	return l.Decoder.Decode([]byte(definition))
}

// Load reads the pipeline of that name: 1 to 255 letters, digits, "-" and "_", in the same case, and no name that
// Windows keeps for a device. Of the directories that have a file of the name the first is taken, also if the file
// there cannot be used: then that is the error, for another pipeline of the name is not what was meant. A directory
// with two files of the name is such an error. A pipeline that has no name of its own takes that of its file.
//
// The error names the pipeline and its directory. It wraps a *[ValidationError] for a text that is not a pipeline, an
// error that matches fs.ErrNotExist for a missing file, [fsutil.ErrBadName] for a name that no pipeline can have,
// [fsutil.ErrEscape] for a link that leads out of the directory, and the cause why ctx is done.
func (l Library) Load(ctx context.Context, name string) (Pipeline, error) {
	e, err := l.Find(ctx, name)
	return e.Pipeline, err
}

// Find is [Library.Load] for callers that name the file in what they say. The entry has the Dir and the File also
// beside the error of a file that cannot be used, the Dir alone beside the error of a directory that cannot be read,
// and is the zero LibraryEntry beside any other error. It is never Shadowed.
func (l Library) Find(ctx context.Context, name string) (LibraryEntry, error) {
	if err := library.CheckName(name); err != nil {
		return LibraryEntry{}, &libraryError{Name: name, Err: err}
	}
	var near, dirs []string
	for _, d := range l.Dirs {
		dirs = append(dirs, fsutil.Visible(d.label()))
		from, err := d.open(ctx, l)
		if err != nil {
			return LibraryEntry{Dir: d.label()}, &libraryError{Name: name, Dir: d.label(), Err: err}
		}
		defer from.Close()
		if from.Has(name) {
			e, _ := l.load(ctx, from, d.label(), name)
			return e, e.Err
		}
		near = append(near, from.Names...)
	}
	return LibraryEntry{}, &libraryError{Name: name, Err: library.Missing(name, dirs, near)}
}

// List returns an entry for each name in each directory, sorted by name, and those of one name in the order of the
// directories. Names that begin with a dot are left out. A file that cannot be used has the reason in its entry. It
// reads 64 MiB of text; what comes then has an error that says so, and can be loaded by its name.
//
// The error is that of directories which cannot be listed, or the cause why ctx is done; the entries that there are
// come beside it.
func (l Library) List(ctx context.Context) ([]LibraryEntry, error) {
	var entries []LibraryEntry
	var failed []error
	known, left := make(map[string]bool), int64(library.MostListed)
	for _, d := range l.Dirs {
		from, err := d.open(ctx, l)
		if err != nil {
			failed = append(failed, &libraryError{Dir: d.label(), Err: err})
			continue
		}
		for _, name := range from.Names {
			e := LibraryEntry{Name: name, Dir: d.label()}
			if ctx.Err() != nil {
				break
			} else if err := library.CheckName(name); err != nil {
				e.Err = &libraryError{Name: name, Dir: d.label(), Err: err}
			} else if left <= 0 {
				e.Err = &libraryError{Name: name, Dir: d.label(), Err: library.ErrNotRead}
			} else {
				var size int
				e, size = l.load(ctx, from, d.label(), name)
				left -= int64(size)
			}
			e.Shadowed = known[name]
			if e.File == "" {
				e.File, _ = from.File(name) // its error is that of an entry which is read
			}
			entries = append(entries, e)
		}
		from.Close()
		for _, name := range from.Names {
			known[name] = true
		}
		if ctx.Err() != nil {
			failed = append(failed, context.Cause(ctx))
			break
		}
	}
	slices.SortStableFunc(entries, func(a, b LibraryEntry) int { return strings.Compare(a.Name, b.Name) })
	return entries, errors.Join(failed...)
}

func (d LibraryDir) label() string { return cmp.Or(d.Name, d.Path, ".") }

// open lists the directory. The caller closes it.
func (d LibraryDir) open(ctx context.Context, l Library) (*library.Dir, error) {
	fsys := d.FS
	if root, ok := fsys.(*fsutil.RootFs); ok && root != nil {
		fsys = root.Rooted()
	}
	most := cmp.Or(l.Decoder.MaxBytes, definition.MaxPipelineBytes)
	return library.Open(ctx, fsys, cmp.Or(d.Path, "."), int64(most), library.Ends(l.YAML != nil)...)
}

// load reads and decodes the file of a name that a directory has, and reports how long it is. The error of the entry
// is a *libraryError.
func (l Library) load(ctx context.Context, from *library.Dir, dir, name string) (e LibraryEntry, size int) {
	e = LibraryEntry{Name: name, Dir: dir}
	var data []byte
	var err error
	if e.File, err = from.File(name); err == nil {
		data, err = from.Read(ctx, e.File)
	}
	if err == nil {
		d := l.Decoder
		d.Name = name
		if strings.HasSuffix(e.File, library.JSON) {
			e.Pipeline, err = d.Decode(data)
		} else {
			e.Pipeline, err = l.YAML(d, data)
		}
	}
	if err != nil {
		e.Pipeline, e.Err = Pipeline{}, &libraryError{Name: name, Dir: dir, Err: err}
	}
	return e, len(data)
}
