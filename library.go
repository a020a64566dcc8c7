package millrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/library"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/show"
)

// mostListed is how much text [Library.List] reads, in bytes.
const mostListed = 64 << 20

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

// The ends of the names of files.
const (
	endJSON = ".json"
	endYAML = ".yaml"
	endYML  = ".yml"
)

// ends are those of the files that are read.
func (l Library) ends() []string {
	if l.YAML == nil {
		return []string{endJSON}
	}
	return []string{endJSON, endYAML, endYML}
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
	// Err is a *LibraryError that says why the file cannot be used, nil if it can.
	Err error
}

// LibraryError says why there is no pipeline of a name, or why it cannot be read. It wraps a *[ValidationError] for a
// text that is no pipeline, an error that matches fs.ErrNotExist where there is no such file, [fsutil.ErrBadName] for
// what no pipeline can be called, [fsutil.ErrEscape] for a link that leads out of the directory, and so on.
type LibraryError struct {
	// Name is the pipeline's, "" if it is the directory that cannot be read. Dir is the name of the directory, "" if it
	// is about none of them.
	Name, Dir string
	Err       error
}

// Error names the pipeline, the directory and the reason.
func (e *LibraryError) Error() string {
	switch {
	case e.Dir == "":
		return e.Err.Error()
	case e.Name == "":
		return fmt.Sprintf("pipelines in %s: %v", fsutil.Visible(e.Dir), e.Err)
	}
	return fmt.Sprintf("pipeline '%s' in %s: %v", fsutil.Visible(show.Name(e.Name)), fsutil.Visible(e.Dir), e.Err)
}

// Unwrap returns the reason.
func (e *LibraryError) Unwrap() error { return e.Err }

// Code returns "invalid_pipeline", or "canceled" if Err is that of a context.
func (e *LibraryError) Code() string {
	return errorform.UnlessCanceled(e.Err, errorform.InvalidPipeline)
}

// worded is an error of a kind, in words of its own.
type worded struct {
	text string
	kind error
}

func (e *worded) Error() string { return e.text }
func (e *worded) Unwrap() error { return e.kind }

// Open returns the pipeline that a definition stands for: a text that begins with "{" is the JSON of one, any other is
// the name of one for [Library.Load]. If the Decoder is lenient, a text with a "{" anywhere is JSON.
func (l Library) Open(ctx context.Context, definition string) (Pipeline, error) {
	begins := strings.HasPrefix(strings.TrimLeft(definition, " \t\r\n"), "{")
	if !begins && !(l.Decoder.Lenient && strings.Contains(definition, "{")) {
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
// The error is a *[LibraryError], also around the cause why ctx is done.
func (l Library) Load(ctx context.Context, name string) (Pipeline, error) {
	e, err := l.Find(ctx, name)
	return e.Pipeline, err
}

// Find is [Library.Load] for callers that name the file in what they say. The entry has the Dir and the File also
// beside the error of a file that cannot be used, and is the zero LibraryEntry beside any other. It is never Shadowed.
func (l Library) Find(ctx context.Context, name string) (LibraryEntry, error) {
	if err := checkLibraryName(name); err != nil {
		return LibraryEntry{}, &LibraryError{Name: name, Err: err}
	}
	var near, dirs []string
	for _, d := range l.Dirs {
		dirs = append(dirs, fsutil.Visible(d.label()))
		from, err := d.open(ctx, l)
		if err != nil {
			return LibraryEntry{}, &LibraryError{Name: name, Dir: d.label(), Err: err}
		}
		defer from.Close()
		if from.Has(name) {
			e, _ := l.load(ctx, from, d.label(), name)
			return e, e.Err
		}
		near = append(near, from.Names...)
	}
	text := fmt.Sprintf("no pipeline '%s' in %s", show.Name(name), strings.Join(dirs, ", "))
	if len(dirs) == 0 {
		text = fmt.Sprintf("no pipeline '%s': the library has no directories", show.Name(name))
	}
	near = slices.DeleteFunc(near, func(name string) bool { return checkLibraryName(name) != nil })
	if meant, ok := nearest.Of(name, near); ok {
		text += fmt.Sprintf(": did you mean '%s'?", meant)
	}
	return LibraryEntry{}, &LibraryError{Name: name, Err: &worded{text, fs.ErrNotExist}}
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
	known, left := make(map[string]bool), int64(mostListed)
	for _, d := range l.Dirs {
		from, err := d.open(ctx, l)
		if err != nil {
			failed = append(failed, &LibraryError{Dir: d.label(), Err: err})
			continue
		}
		for _, name := range from.Names {
			e := LibraryEntry{Name: name, Dir: d.label()}
			if ctx.Err() != nil {
				break
			} else if err := checkLibraryName(name); err != nil {
				e.Err = &LibraryError{Name: name, Dir: d.label(), Err: err}
			} else if left <= 0 {
				e.Err = &LibraryError{Name: name, Dir: d.label(),
					Err: fmt.Errorf("not read, for the files before it have more than %d bytes: load it by its name",
						int64(mostListed))}
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

// mostBytes is how long a file may be.
func (l Library) mostBytes() int { return cmp.Or(l.Decoder.MaxBytes, definition.MaxPipelineBytes) }

// checkLibraryName returns what is wrong with a name. Names of devices are refused on every system, for a library is
// carried from one system to another.
func checkLibraryName(name string) error {
	text := fmt.Sprintf("invalid pipeline name '%s' (only alphanumeric, -, and _ allowed, at most %d)",
		fsutil.Visible(show.Name(name)), definition.MaxIDLen)
	if !definition.ValidID(name) {
		return &worded{text, fsutil.ErrBadName}
	}
	if err := names.CheckPortable(name); err != nil {
		return &worded{fmt.Sprintf("invalid pipeline name '%s' (%v)", name, err), err}
	}
	return nil
}

func (d LibraryDir) label() string { return cmp.Or(d.Name, d.Path, ".") }

// open lists the directory. The caller closes it.
func (d LibraryDir) open(ctx context.Context, l Library) (*library.Dir, error) {
	fsys := d.FS
	if root, ok := fsys.(*fsutil.RootFs); ok && root != nil {
		fsys = root.Rooted()
	}
	return library.Open(ctx, fsys, cmp.Or(d.Path, "."), int64(l.mostBytes()), l.ends()...)
}

// load reads and decodes the file of a name that a directory has, and reports how long it is. The error of the entry
// is a *LibraryError.
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
		if strings.HasSuffix(e.File, endJSON) {
			e.Pipeline, err = d.Decode(data)
		} else {
			e.Pipeline, err = l.YAML(d, data)
		}
	}
	if err != nil {
		e.Pipeline, e.Err = Pipeline{}, &LibraryError{Name: name, Dir: dir, Err: err}
	}
	return e, len(data)
}
