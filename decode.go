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

// MaxPipelineBytes is the longest JSON text that a [Decoder] reads by default: 16 MiB.
const MaxPipelineBytes = definition.MaxPipelineBytes

// Decoder reads pipelines from JSON. The zero value has the built-in actions. It is safe for concurrent use.
type Decoder struct {
	// Actions are the actions that steps may name. The zero Registry means [actions.Builtin].
	Actions actions.Registry
	// Tools are the tools that steps may call, so that their names and arguments are checked as well. The zero Set means
	// that the tools are not known yet; then they are checked when a run begins.
	Tools tool.Set
	// Lenient repairs mistakes of models and other systems, and then decodes strictly: code fences, trailing commas,
	// comments, quotes, misspelled names and actions, numbers in quotes, a string for a list. docs/json.md has the table.
	// Each repair is a warning of the pipeline. An ambiguous value, or a guard under an unknown name, is refused. JSON
	// that strict decoding accepts has the same meaning, without a warning; only a description that sets an option, such
	// as "dry run", is refused. False is strict.
	Lenient bool
	// Name is the name for a pipeline without its own name, such as the name of its file. Empty means that a pipeline
	// without a name is refused.
	Name string
	// MaxBytes is the longest text, in bytes, that is read. A longer text is a *ValidationError with the code
	// "json_too_large". Zero or less means MaxPipelineBytes.
	MaxBytes int
	// MaxDepth is the nesting limit for lists and objects. Deeper nesting is a *ValidationError with the code
	// "json_too_deep". Zero means 100; negative, or more than 10,000, means 10,000.
	MaxDepth int
	// Locate returns the place of a value, for callers that have made the JSON from another form of text: problems and
	// warnings get its lines and columns, both from 1. The pointer leads to a value of the JSON text, even if Lenient has
	// renamed or moved it; "" is the whole text. name asks for the place of the value's name instead of the value. It is
	// called from the goroutine that calls Decode. Nil means that places are places in the JSON text.
	Locate func(pointer string, name bool) (line, column int)
}

// Decode reads a pipeline with the zero [Decoder].
func Decode(data []byte) (Pipeline, error) { return Decoder{}.Decode(data) }

// Decode reads a pipeline. It is strict: unknown and repeated names, null, wrong types, invalid UTF-8 and trailing data
// are refused. The error is a *ValidationError that lists every problem with its JSON pointer, line and column. A text
// that is not JSON at all has one problem, "Invalid pipeline JSON: ...". Absent fields have their documented defaults.
func (d Decoder) Decode(data []byte) (Pipeline, error) {
	return pipelineOf(definition.Decoder(d).Decode(data))
}

// Schema returns the JSON Schema (draft 2020-12) of the pipelines that the decoder accepts, made from its registry and
// its tools. Decode also checks rules that a schema cannot express, such as that a step refers to an earlier step.
func (d Decoder) Schema() ([]byte, error) { return definition.Decoder(d).Schema() }

// ActionDoc describes an action for people and models. It belongs to the caller.
type ActionDoc struct {
	// Name is the word in a step's "action". Summary describes the action in a line.
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// ReadOnly reports that the action never writes.
	ReadOnly bool `json:"read_only"`
	// Input is the source of the action's files.
	Input actions.Input `json:"-"`
	// Params are the parameters in the order of their declaration, each followed by its nested parameters.
	Params []ParamDoc `json:"params"`
}

// ParamDoc describes a parameter of an action.
type ParamDoc struct {
	// Name is the name in "params". A parameter in a list of objects is named "edits[].old_text", a parameter in an object
	// "range.start".
	Name string `json:"name"`
	// Type describes the accepted values: "a string", "true or false", "a whole number", "a list of strings".
	Type string `json:"type"`
	// Required means that the parameter must be given.
	Required bool `json:"required,omitempty"`
	// Bytes reports that any bytes are accepted: in JSON, {"base64": "..."} is for bytes that are not UTF-8.
	Bytes bool `json:"bytes,omitempty"`
	// Enum are the allowed strings, nil for any.
	Enum []string `json:"enum,omitempty"`
	// Doc is the meaning of the parameter, in a sentence or two, with its default.
	Doc string `json:"doc,omitempty"`
}

// Describe returns the documentation of an action that the decoder accepts. ok is false for an unknown action.
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

// DescribeTool returns the documentation of a tool of the decoder: its Params are the arguments in "args", and ReadOnly
// reports that it is pure. ok is false for an unknown tool.
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

// Library finds pipelines by their names, in directories with a file NAME.json for each pipeline. It reads and never
// writes. It is safe for concurrent use if its file systems are.
type Library struct {
	// Decoder reads the files, and JSON texts passed to [Library.Open]. A file longer than its MaxBytes is an error.
	Decoder Decoder
	// YAML reads files NAME.yaml and NAME.yml: it is Decode of package yamlform, or another function that passes JSON to
	// the Decoder. Nil leaves these files out.
	YAML func(d Decoder, text []byte) (Pipeline, error)
	// Dirs are the directories in the order of their rank: the first with a file of the name wins, so that the pipelines
	// of a project can replace pipelines of the user. A directory that does not exist is empty.
	Dirs []LibraryDir
}

// LibraryDir is a directory of pipelines. It may have at most 10,000 entries.
type LibraryDir struct {
	// Name is the name of the directory in messages and entries, such as "project". Empty means Path.
	Name string
	// FS is the file system of the directory. Nil is an error, never the disk.
	FS afero.Fs
	// Path is the path of the directory; empty means the root of FS. Links on the way to it are followed as far as FS
	// allows, and links in it only while they stay in it. So a directory in a stranger's project is safer below an
	// [fsutil.OpenRoot] of the project, which no link can leave, than on an afero.OsFs.
	Path string
}

// LibraryEntry is a file of a [Library].
type LibraryEntry struct {
	// Name is the file name of the pipeline without its extension, which Load uses. Dir is the name of its directory.
	Name, Dir string
	// File is the name of the file in the directory, such as "fix.yaml".
	File string
	// Shadowed means that a directory of a higher rank also has the name, so that Load does not use this entry.
	Shadowed bool
	// Pipeline is the content of the file, if Err is nil. Its own name may differ.
	Pipeline Pipeline
	// Err is why the file cannot be used, nil if it can.
	Err error
}

// libraryError reports a pipeline that a library lacks or cannot read.
type libraryError struct {
	// Name is the name of the pipeline, "" if the directory cannot be read. Dir is the name of the directory, "" if the
	// error is not about a directory.
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

// Code returns "invalid_pipeline", or "canceled" if Err is the error of a context.
func (e *libraryError) Code() string {
	return errorform.UnlessCanceled(e.Err, errorform.InvalidPipeline)
}

// Open returns the pipeline of a definition: a text that begins with "{" is JSON, any other text is a name for
// [Library.Load]. If the Decoder is lenient, a text with a "{" anywhere is JSON.
func (l Library) Open(ctx context.Context, definition string) (Pipeline, error) {
	if !library.IsJSON(definition, l.Decoder.Lenient) {
		return l.Load(ctx, definition)
	}
	if ctx.Err() != nil {
		return Pipeline{}, context.Cause(ctx)
	}
	return l.Decoder.Decode([]byte(definition))
}

// Load reads the pipeline with that name: 1 to 255 letters, digits, "-" and "_", in the same case, and not a name that
// Windows reserves for a device. The first directory that has a file of the name wins, even if the file cannot be used:
// then that is the error, because another pipeline of the name is not meant. A directory with two files of the name is
// such an error. A pipeline without its own name gets the name of its file.
//
// The error names the pipeline and its directory. It wraps a *[ValidationError] for a text that is not a pipeline, an
// error that matches fs.ErrNotExist for a missing file, [fsutil.ErrBadName] for a name that no pipeline can have,
// [fsutil.ErrEscape] for a link that leads out of the directory, and the cause why ctx is done.
func (l Library) Load(ctx context.Context, name string) (Pipeline, error) {
	e, err := l.Find(ctx, name)
	return e.Pipeline, err
}

// Find is [Library.Load] for callers that name the file in their messages. With the error of an unusable file the entry
// still has the Dir and the File, and with the error of an unreadable directory only the Dir. With any other error it
// is the zero LibraryEntry. It is never Shadowed.
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

// List returns an entry for each name in each directory, sorted by name; entries with the same name are in the order of
// the directories. Names that begin with a dot are left out. A file that cannot be used has the reason in its entry.
// List reads 64 MiB of text; entries after that have an error that reports this, and can be loaded by name.
//
// The error is about directories that cannot be listed, or is the cause why ctx is done; the other entries are returned
// with it.
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
				e.File, _ = from.File(name) // an entry that is read reports the error
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
