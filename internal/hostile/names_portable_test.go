package hostile_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/names"
)

// portably checks a list of names against PortableNames. With the policy no step writes to such a name, whether its
// file exists or not, on any backend, but the file can be read and copied. Without the policy the names are ordinary.
func portably(t *testing.T, list ...string) {
	t.Helper()
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the file system has no such names, with or without the policy")
	}
	for i, name := range list {
		t.Run(fmt.Sprintf("%+q", name), func(t *testing.T) {
			eachOf(t, backendsFor(i), func(t *testing.T, b *backend) {
				b.host.PortableNames = true
				for _, p := range []string{name, "dir/" + name, name + "/x"} {
					for _, u := range usesIn(p, target) {
						b.refuses(t, names.ErrNotPortable, fmt.Sprintf("%q", name), u.steps...)
					}
				}
				b.refuses(t, names.ErrNotPortable, "", act("copy", obj{"files": []string{"a.txt", "b.txt"}, "destination": "made", "to": name + "/{{name}}"}))
				b.plant(t, map[string]string{name: "needle\n"})
				for _, u := range usesIn(name, source) {
					if u.writes {
						b.refuses(t, names.ErrNotPortable, "", u.steps...)
					}
				}
				b.dry(t, act("read_ranges", obj{"files": []string{name}}), act("copy", obj{"files": []string{name}, "to": "good.txt"}))

				// A host with the policy checks a plan that was stored without it.
				b.host.PortableNames = false
				plan, err := b.host.Plan(t.Context(), b.fs, decoded(t, act("copy", obj{"files": []string{"a.txt"}, "to": "dir/" + name})))
				if err != nil {
					t.Fatal(err)
				}
				data, err := plan.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				x := b.host
				x.PortableNames = true
				_, err = x.OpenPlan(t.Context(), b.fs, data)
				if _, ok := errors.AsType[*millrace.PlanError](err); !ok || !errors.Is(err, names.ErrNotPortable) {
					t.Errorf("stored plan: %v", err)
				}
				b.works(t,
					act("edit", obj{"files": []string{name}, "old_text": "needle", "new_text": "pin"}),
					act("rename", obj{"files": []string{name}, "to": "good.txt"}))
				if b.commits && (b.content(t, "good.txt") != "pin\n" || b.has(name)) {
					t.Error("without the policy the name is not ordinary")
				}
			})
		})
	}
}

func TestHostile_windows_paths(t *testing.T) {
	portably(t, `C:\x`, `C:x`, `\\srv\share`, `\\?\C:\x`)
}

func TestHostile_device_names(t *testing.T) {
	portably(t, "NUL", "con.log", "COM1", "COM¹", "aux.")
}

func TestHostile_an_alternate_data_stream(t *testing.T) {
	portably(t, "file.txt:stream", "file.txt::$DATA")
}

func TestHostile_trailing_dot_or_space(t *testing.T) {
	portably(t, "file.", "file ", "file. .")
}
