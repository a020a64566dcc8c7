package semantics_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// longText needs several writes, so that a file which is written in place is noticed.
var longText = strings.Repeat("a line\n", 20_000) + "one old line\n" + strings.Repeat("a line\n", 20_000)

// readMeanwhile repeatedly does and undoes one action while others read: a fast reader, and, if possible, a reader that
// reads after every single operation of the commit. The result is the promised word if all readers agree with it, else
// what they saw.
func readMeanwhile(t *testing.T, action, params string) (saved, restored string) {
	dir := t.TempDir()
	row := saveRow{content: longText}
	plantSubject(t, dir, row)
	x := millrace.Executor{State: millrace.State{NoSync: true}}
	word := map[string]string{"rename": "whole, under one name or both", "copy": "whole or not there", "delete": "whole or not there"}[action]
	if word == "" {
		word = "old or new, whole"
	}
	saved, restored = word, word
	reads := 0
	for range fstest.Runs(2, 4, 300) {
		var id string
		saving := &onlooker{dir: dir, action: action}
		root := watched(suite.OpenRoot(t, dir), saving.look)
		saving.beside(func() { id = runSave(t, x, root, row, action, params).BackupID })
		restoring := &onlooker{dir: dir, action: action, back: true}
		root = watched(suite.OpenRoot(t, dir), restoring.look)
		restoring.beside(func() {
			if _, err := x.Restore(t.Context(), root, id); err != nil {
				t.Error(err)
			}
		})
		reads += saving.reads + restoring.reads
		if saving.bad != "" {
			saved = saving.bad
		}
		if restoring.bad != "" {
			restored = restoring.bad
		}
	}
	t.Logf("%s: looked %d times", action, reads)
	return saved, restored
}

// onlooker is another program that reads the subject of a commit.
type onlooker struct {
	dir, action string
	back        bool // the action is undone

	mu    sync.Mutex
	reads int
	bad   string // the wrong state that it saw
}

// beside reads again and again while do runs, at least once before and once after it.
func (o *onlooker) beside(do func()) {
	o.look()
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !done.Load() {
			o.look()
		}
	})
	do()
	done.Store(true)
	wg.Wait()
	o.look()
}

// look reads once and judges the result.
func (o *onlooker) look() {
	found, bad := 0, ""
	for _, name := range o.names() {
		data, err := os.ReadFile(filepath.Join(o.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			bad = err.Error()
		case o.whole(string(data)):
			found++
		default:
			bad = "broken bytes"
		}
	}
	if found == 0 && bad == "" && o.action != "copy" && o.action != "delete" {
		bad = "not there"
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reads++
	if bad != "" {
		o.bad = bad
	}
}

func (o *onlooker) whole(text string) bool {
	switch o.action {
	case "rename", "copy", "delete":
		return text == longText
	}
	return text == longText || text == strings.Replace(longText, "old", "newer", 1)
}

// names returns the paths to read. The old path of a moved file comes first: the file may move during the read of the
// new path.
func (o *onlooker) names() []string {
	switch {
	case o.action == "rename" && o.back:
		return []string{result, subject}
	case o.action == "rename":
		return []string{subject, result}
	case o.action == "copy":
		return []string{result}
	}
	return []string{subject}
}
