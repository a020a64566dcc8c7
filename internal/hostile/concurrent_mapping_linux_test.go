package hostile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
)

// TestHostile_a_write_through_a_mapping_after_the_plan_is_found has another program write to a page of a file that it
// has mapped and written to before: no time of the file reveals it. The plan that was made from the older bytes must
// not replace it.
func TestHostile_a_write_through_a_mapping_after_the_plan_is_found(t *testing.T) {
	t.Parallel()
	for what, stored := range map[string]bool{"plan": false, "stored plan": true} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plantDir(t, dir, "a=the needle and more", "b=the needle")
			full := filepath.Join(dir, "a")
			f, err := os.OpenFile(full, os.O_RDWR, 0)
			must(t, err)
			defer f.Close()
			mapped, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			must(t, err)
			defer func() { must(t, unix.Munmap(mapped)) }()
			mapped[0] = 'T'
			must(t, os.Chtimes(full, longBefore, longBefore))

			fsys := openDir(t, dir)
			plan, err := host().Plan(t.Context(), fsys, decoded(t,
				editFile("a", "needle", "pin"), editFile("b", "needle", "pin", id("b"))))
			must(t, err)
			if stored {
				text, err := plan.MarshalJSON()
				must(t, err)
				plan, err = host().OpenPlan(t.Context(), fsys, text)
				must(t, err)
			}
			var before, after unix.Stat_t
			must(t, unix.Stat(full, &before))
			mapped[1] = 'H'
			must(t, unix.Stat(full, &after))
			if before.Ctim != after.Ctim || before.Mtim != after.Mtim {
				t.Skip("this file system shows such writes in its times")
			}
			_, err = plan.Commit(t.Context())
			conflict, ok := errors.AsType[*millrace.ConflictError](err)
			if !ok || len(conflict.Conflicts) != 1 || conflict.Conflicts[0].Path != "a" {
				t.Errorf("error is %v", err)
			}
			for name, want := range map[string]string{"a": "THe needle and more", "b": "the needle"} {
				if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != want {
					t.Errorf("%s is %q, %v; want %q", name, data, err, want)
				}
			}
		})
	}
}
