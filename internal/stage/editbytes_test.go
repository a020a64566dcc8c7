package stage_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/splice"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestStage_EditBytes edits one stage with Edit and one with EditBytes: after each edit both have the same bytes,
// changes, hashes and authors. find gets the content, and its later changes to its splices have no effect.
func TestStage_EditBytes(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 3, 40, 5000, 1<<20 - 1, 1 << 20, 1<<20 + 1}
	rounds := fstest.Runs(120, 400, 20_000)
	edits, idle := 0, 0
	for seed := range rounds {
		random := rand.New(rand.NewPCG(uint64(seed), 5))
		size := sizes[random.IntN(5)]
		if random.IntN(10) == 0 {
			size = sizes[random.IntN(len(sizes))]
		}
		content := fstest.RandomBytes(random, size)
		base := afero.NewMemMapFs()
		fstest.Must(t, afero.WriteFile(base, "f", content, 0o644))
		whole, viewed := stage.New(base), stage.New(base)
		spill, cache := []int64{0, 5, 1 << 30}[random.IntN(3)], []int64{0, 8 << 20}[random.IntN(2)]
		written := random.IntN(4) == 0
		for _, s := range []*stage.Stage{whole, viewed} {
			stage.SetLimits(s, spill, cache)
			if written {
				fstest.Must(t, afero.WriteFile(s.For("write", false), "f", content, 0o644))
			}
		}
		for i := range 1 + random.IntN(3) {
			what := fmt.Sprintf("seed %d, %d bytes, written %v, limits %d and %d, edit %d", seed, size, written, spill, cache, i)
			step := string(rune('a' + i))
			list := randomSplices(random, len(content))
			want, err := splice.Apply(content, list)
			fstest.Must(t, err)
			fstest.Must(t, whole.For(step, false).Edit("f", list))
			err = editBytes(viewed.For(step, false), "f", 2<<30-1, func(data []byte) ([]change.Splice, error) {
				if !bytes.Equal(data, content) {
					t.Errorf("%s: find was given %d bytes that are not the content", what, len(data))
				}
				return list, nil
			})
			fstest.Must(t, err)
			if bytes.Equal(want, content) {
				idle++
			}
			for _, sp := range list { // they have been copied
				clear(sp.Text)
			}
			content = want
			got, err := viewed.ReadFile("f")
			if err != nil || !bytes.Equal(got, content) {
				t.Fatalf("%s: %d bytes, want %d, %v", what, len(got), len(content), err)
			}
			a, b := changesOf(t, whole), changesOf(t, viewed)
			if diff := cmp.Diff(a, b, cmpopts.IgnoreUnexported(change.Change{}), cmpopts.EquateEmpty(),
				cmpopts.IgnoreFields(change.State{}, "ModTime")); diff != "" {
				t.Fatalf("%s: changes (-Edit +EditBytes):\n%s", what, diff)
			}
			edits++
		}
		fstest.Must(t, whole.Close())
		fstest.Must(t, viewed.Close())
	}
	t.Logf("%d files, %d edits, %d of which changed nothing", rounds, edits, idle)
	if idle == 0 || idle == edits {
		t.Error("they are all of one kind")
	}
}

// TestStage_EditBytes_again: find is called again with the current bytes if the file was written, edited or replaced
// after the first call, and nothing from its first result is kept.
func TestStage_EditBytes_again(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		between func(s *stage.Stage) error
		now     string
	}{
		"written":                  {func(s *stage.Stage) error { return afero.WriteFile(s, "f", []byte("written"), 0o644) }, "written"},
		"edited":                   {func(s *stage.Stage) error { return s.Edit("f", []change.Splice{cut(0, 1, "E")}) }, "Eontent of f"},
		"replaced":                 {func(s *stage.Stage) error { return s.Rename("g", "f") }, "content of g"},
		"untouched, though staged": {func(s *stage.Stage) error { return s.Chmod("f", 0o600) }, ""},
	} {
		for _, before := range []bool{false, true} {
			base := afero.NewMemMapFs()
			fstest.Must(t, afero.WriteFile(base, "f", []byte("content of f"), 0o644))
			fstest.Must(t, afero.WriteFile(base, "g", []byte("content of g"), 0o644))
			s := stage.New(base)
			first := "content of f"
			if before {
				first = "content of F"
				fstest.Must(t, s.Edit("f", []change.Splice{cut(11, 1, "F")}))
			}
			want := []string{first}
			if tt.now != "" {
				want = append(want, tt.now)
				if before && name == "edited" {
					want[1] = "Eontent of F"
				}
			}
			var seen []string
			err := editBytes(s, "f", 99, func(data []byte) ([]change.Splice, error) {
				if seen = append(seen, string(data)); len(seen) == 1 {
					fstest.Must(t, tt.between(s))
				}
				return []change.Splice{cut(int64(len(seen)), 0, "<"+fmt.Sprint(len(seen))+">")}, nil
			})
			fstest.Must(t, err)
			last := want[len(want)-1]
			at := len(want)
			last = last[:at] + fmt.Sprintf("<%d>", at) + last[at:]
			if got := fstest.Read(t, s, "f"); !cmp.Equal(seen, want) || got != last {
				t.Errorf("%s, edited before %v: find was given %q, want %q; then the file is %q, want %q", name, before, seen, want, got, last)
			}
		}
	}
}

// TestStage_editUnsized: an edited file that reports size 0, as those in /proc do, has for all readers the whole
// content that the edit made, and reports its size.
func TestStage_editUnsized(t *testing.T) {
	t.Parallel()
	for _, list := range [][]change.Splice{{cut(3, 1, "three")}, {cut(0, 4, "")}, {cut(3, 1, "x")}, {cut(0, 10, "")},
		{cut(1, 0, "in"), cut(10, 0, "end")}} {
		want, err := splice.Apply([]byte("0123456789"), list)
		fstest.Must(t, err)
		for how, edit := range map[string]func(s *stage.Stage) error{
			"Edit": func(s *stage.Stage) error { return s.Edit("f", list) },
			"EditBytes": func(s *stage.Stage) error {
				return editBytes(s, "f", 99, func([]byte) ([]change.Splice, error) { return list, nil })
			},
			"EditStream": func(s *stage.Stage) error {
				var data []byte
				return editStream(s, "f", emitAll(t, list, &data))
			},
			"in two": func(s *stage.Stage) error {
				if err := s.Edit("f", []change.Splice{cut(10, 0, "more")}); err != nil {
					return err
				}
				if err := s.Edit("f", []change.Splice{cut(10, 4, "")}); err != nil {
					return err
				}
				return s.Edit("f", list)
			},
		} {
			mem := afero.NewMemMapFs()
			fstest.Must(t, afero.WriteFile(mem, "f", []byte("0123456789"), 0o644))
			s := stage.New(lying(mem, 0))
			if err := edit(s); err != nil {
				t.Errorf("%s: %v", how, err)
				continue
			}
			whole, err := s.ReadFile("f")
			fstest.Must(t, err)
			f, err := s.Open("f")
			fstest.Must(t, err)
			streamed, err := io.ReadAll(f)
			fstest.Must(t, err)
			fstest.Must(t, f.Close())
			info, err := s.Stat("f")
			fstest.Must(t, err)
			if string(whole) != string(want) || string(streamed) != string(want) || info.Size() != int64(len(want)) {
				t.Errorf("%s %v: read %q, streamed %q, size %d, want %q", how, list, whole, streamed, info.Size(), want)
			}
			changes := changesOf(t, s)
			if len(changes) != 1 || changes[0].New.Hash != change.HashOf(want) || changes[0].New.Size != int64(len(want)) {
				t.Errorf("%s %v: %+v, want %q", how, list, changes, want)
				continue
			}
			r, err := changes[0].OpenNew()
			fstest.Must(t, err)
			if data, err := io.ReadAll(r); err != nil || string(data) != string(want) {
				t.Errorf("%s %v: the change has %q, %v, want %q", how, list, data, err, want)
			}
			fstest.Must(t, r.Close())
		}
	}
}
