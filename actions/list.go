package actions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/walk"
)

// List lists the entries of a directory, to a depth.
//
// It leaves out the same files as a [Search]: version control directories, the state directory, and files that
// .gitignore excludes. Hidden files are listed. Symbolic links are listed as links and not followed, except Path.
// FileTypes, Include and Exclude work as in a search. Include also applies to directories and links. A directory is
// looked into even if it is not listed. With FileTypes, no directory is listed.
//
// Files of the outcome are the regular files. Reports contain every entry, including directories, with its kind,
// permissions and time of the last change, the size of files and the target of links. The aggregated text has a line
// for each entry, in path order:
//
//	drwxr-xr-x    - src/
//	-rw-r--r-- 1234 src/main.go
//	lrwxrwxrwx    - src/old.go -> main.go
//
// A Path that does not exist is an error, or with Missing "empty" an empty directory.
//
// A name with characters that cannot be shown is quoted, and these characters are escaped.
type List struct {
	Path      string   `json:"path,omitempty" doc:"Directory or file to list. Default: the root of the tree."`
	Depth     int      `json:"depth,omitempty" param:"nonzero" doc:"Levels to list, -1 for all. Default: 1, the directory itself."`
	FileTypes []string `json:"file_types,omitempty" doc:"Only files with any of these extensions, such as .go or .d.ts, in any case."`
	Include   []string `json:"include,omitempty" doc:"Only files that match any of these globs, such as *_test.go or src/**/*.js."`
	Exclude   []string `json:"exclude,omitempty" doc:"No files that match any of these globs, such as node_modules or dist/**."`
	NoIgnore  bool     `json:"no_ignore,omitempty" doc:"Also list files that .gitignore ignores."`
	Missing   string   `json:"missing,omitempty" enum:"error,empty" doc:"A missing path fails the step, or counts as empty. Default: error."`
}

// missingEmpty is the value of missing that treats a missing path as an empty directory.
const missingEmpty = "empty"

// Spec implements [Action].
func (List) Spec() Spec {
	return Spec{Name: "list", Summary: "List the entries of a directory", ReadOnly: true, Input: InputNone}
}

// Validate implements [Validator].
func (l List) Validate(c *Check) { checkFilter(c, l.FileTypes, l.Include, l.Exclude) }

// Touches implements [Toucher].
func (l List) Touches() (reads, writes []string, known bool) {
	return walkReads(l.Path, l.NoIgnore), nil, true
}

// Run implements [Action].
func (l List) Run(ctx context.Context, c *Call) (Outcome, error) {
	filter, err := newFilter(l.FileTypes, l.Include, l.Exclude)
	if err != nil {
		return Outcome{}, err
	}
	if by := emptiedFilter(ctx, l.FileTypes, l.Include); by != "" {
		c.Warnf("nothing was listed, because %s is an empty list", by)
		return listing(nil), nil
	}
	from := cmp.Or(l.Path, ".")
	root, _, opt, err := c.walkFrom(from, "listed", l.NoIgnore, filter)
	if l.Missing == missingEmpty && errors.Is(err, fs.ErrNotExist) {
		return Outcome{}, nil
	}
	if err != nil {
		return Outcome{}, walkError(from, err)
	}
	opt.All, opt.Depth = true, max(cmp.Or(l.Depth, 1), 0)
	shown := c.Limits.shown()
	progress := c.progress(0)
	var mu sync.Mutex
	var entries []listed
	err = walk.Walk(ctx, c.stage(), root, opt, func(e walk.Entry) error {
		if e.Kind == change.Dir && len(l.FileTypes) > 0 || !filter.takes(e.Path, e.Name()) {
			return nil
		}
		one, err := listEntry(c, e)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the file has been removed since its directory was read
		case err != nil:
			return fileError(e.Path(), err)
		}
		if err := shown.take(one.cost()); err != nil {
			return err
		}
		if e.Kind == change.File {
			progress.file()
		}
		mu.Lock()
		defer mu.Unlock()
		entries = append(entries, one)
		return nil
	})
	if err != nil {
		return Outcome{}, walkError(from, err)
	}
	progress.end()
	slices.SortFunc(entries, func(a, b listed) int { return strings.Compare(a.report.Path, b.report.Path) })
	return listing(entries), nil
}

type listed struct {
	report FileReport
	mode   fs.FileMode
}

func listEntry(c *Call, e walk.Entry) (listed, error) {
	info, err := e.Info()
	if err != nil {
		return listed{}, err
	}
	one := listed{mode: info.Mode(), report: FileReport{
		Path: e.Path(), Success: true, LastModified: info.ModTime().UTC(), Kind: e.Kind.String(),
		Mode: octal(info.Mode()),
	}}
	switch e.Kind {
	case change.File:
		size := info.Size()
		one.report.Size = &size
	case change.Symlink:
		one.report.Target, err = c.FS.ReadlinkIfPossible(e.Path())
	}
	return one, err
}

// cost returns the approximate size of an entry's report in bytes.
func (l listed) cost() int { return 2*len(l.report.Path) + len(l.report.Target) + 200 }

func (l listed) size() string {
	if l.report.Size == nil {
		return "-"
	}
	return strconv.FormatInt(*l.report.Size, 10)
}

// listing returns the outcome of a list. The entries are in path order.
func listing(entries []listed) Outcome {
	var out Outcome
	width := 0
	for _, e := range entries {
		width = max(width, len(e.size()))
	}
	var text strings.Builder
	for _, e := range entries {
		out.Reports = append(out.Reports, e.report)
		name := shownName(e.report.Path)
		switch e.report.Kind {
		case change.File.String():
			out.Files = append(out.Files, e.report.Path)
		case change.Dir.String():
			name += "/"
		case change.Symlink.String():
			name += " -> " + shownName(e.report.Target)
		}
		fmt.Fprintf(&text, "%s %*s %s\n", modeLetters(e.mode), width, e.size(), name)
	}
	out.Aggregated = text.String()
	return out
}

// shownName returns a name unchanged, or quoted if it has characters that could fake a line or hide something.
func shownName(name string) string {
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
		return quoted
	}
	return name
}

// octal returns the permissions with the setuid, setgid and sticky bits, in the numbers of chmod(1).
func octal(mode fs.FileMode) string {
	bits := mode.Perm()
	for bit, of := range [...]fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if mode&of != 0 {
			bits |= 0o1000 << bit
		}
	}
	return fmt.Sprintf("%04o", uint32(bits))
}

// modeLetters returns the kind and the permissions in the form of ls(1).
func modeLetters(mode fs.FileMode) string {
	text := []byte(mode.Perm().String())
	text[0] = cmp.Or(map[fs.FileMode]byte{
		0: '-', fs.ModeDir: 'd', fs.ModeSymlink: 'l', fs.ModeNamedPipe: 'p', fs.ModeSocket: 's', fs.ModeDevice: 'b',
		fs.ModeDevice | fs.ModeCharDevice: 'c',
	}[mode.Type()], '?')
	for _, special := range []struct {
		bit fs.FileMode
		at  int
		set string // without and with the permission to execute
	}{{fs.ModeSetuid, 3, "Ss"}, {fs.ModeSetgid, 6, "Ss"}, {fs.ModeSticky, 9, "Tt"}} {
		switch {
		case mode&special.bit == 0:
		case text[special.at] == 'x':
			text[special.at] = special.set[1]
		default:
			text[special.at] = special.set[0]
		}
	}
	return string(text)
}
