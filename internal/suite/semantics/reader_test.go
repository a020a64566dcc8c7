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

// longText takes several writes, so that a file which is written in place is seen to be.
var longText = strings.Repeat("a line\n", 20_000) + "one old line\n" + strings.Repeat("a line\n", 20_000)

// readMeanwhile does and undoes one thing over and over while others look: a reader that reads as fast as it can, and,
// where that can be arranged, one who looks after every single operation of the commit. The word is the promise if
// all that they see agrees with it, and what they saw otherwise.
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
	back        bool // what is done is undone

	mu    sync.Mutex
	reads int
	bad   string // what it saw and should not have
}

// beside looks again and again while do runs, at least once before and once after it.
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

// look reads once and judges what it finds.
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

// names are where to look. A file that moves is looked for where it comes from first: it may go while one looks where
// it goes to.
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
