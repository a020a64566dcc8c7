package hostile_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/raise"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// strangerKeys are the keys of an attacker: no key, or any key except the key of this process.
var strangerKeys = map[string][]byte{"not signed": {}, "signed by another": []byte("the key of somebody else, 32 byte")}

// caught returns the files of a tree in memory in which a commit changed victim.txt from "evil" to "good", with the
// state directory as in that phase of the commit, or as after the commit for the phase "".
func caught(t *testing.T, key []byte, phase string) map[string]string {
	t.Helper()
	fsys, err := raise.FS(afero.NewMemMapFs())
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	look := func(now string) {
		if now != phase {
			return
		}
		err := afero.Walk(fsys, ".", func(name string, info fs.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			data, err := afero.ReadFile(fsys, name)
			files[name] = string(data)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if err := afero.WriteFile(fsys, "victim.txt", []byte("evil\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stage := stage.New(fsys)
	defer stage.Close()
	if err := afero.WriteFile(stage, "victim.txt", []byte("good\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	changes, err := stage.Changes()
	if err != nil {
		t.Fatal(err)
	}
	o := commit.Options{FS: fsys, StateDir: ".millrace", Key: key, Pipeline: "planted", Observe: look}
	if _, err := commit.Apply(context.Background(), o, changes); err != nil {
		t.Fatal(err)
	}
	look("")
	files["victim.txt"] = "good\n" // in every phase
	return files
}

// unpacked returns trees in memory with these files, each from another kind of archive.
func unpacked(t *testing.T, files map[string]string) map[string]afero.Fs {
	t.Helper()
	var tarred, zipped bytes.Buffer
	var text []txtarfs.File
	tw, zw := tar.NewWriter(&tarred), zip.NewWriter(&zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := []byte(files[name])
		text = append(text, txtarfs.File{Name: name, Data: data})
		err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))})
		_, werr := tw.Write(data)
		w, zerr := zw.Create(name)
		if zerr == nil {
			_, zerr = w.Write(data)
		}
		if err := errors.Join(err, werr, zerr); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	all := map[string]afero.Fs{"tar": afero.NewMemMapFs(), "zip": afero.NewMemMapFs(), "txtar": afero.NewMemMapFs()}
	load := func(kind, name string, from io.Reader) {
		data, err := io.ReadAll(from)
		if err == nil {
			err = errors.Join(all[kind].MkdirAll(path.Dir(name), 0o755), afero.WriteFile(all[kind], name, data, 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for tr := tar.NewReader(&tarred); ; {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		load("tar", header.Name, tr)
	}
	zr, err := zip.NewReader(bytes.NewReader(zipped.Bytes()), int64(zipped.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		load("zip", f.Name, r)
		r.Close()
	}
	if err := txtarfs.Write(all["txtar"], text); err != nil {
		t.Fatal(err)
	}
	return all
}

// eachArchive runs the test over trees that contain the state directory of that phase, for each kind of archive and
// each key of an attacker.
func eachArchive(t *testing.T, phase string, test func(t *testing.T, fsys afero.Fs)) {
	t.Helper()
	for signed, key := range strangerKeys {
		for kind, fsys := range unpacked(t, caught(t, key, phase)) {
			t.Run(kind+" "+signed, func(t *testing.T) { test(t, fsys) })
		}
	}
}

func victim(t *testing.T, fsys afero.Fs) {
	t.Helper()
	if data, err := afero.ReadFile(fsys, "victim.txt"); err != nil || string(data) != "good\n" {
		t.Errorf("victim.txt is %q, %v", data, err)
	}
}

// TestHostile_a_journal_planted_in_memory_is_not_believed loads an archive with an unfinished transaction, which would
// write the attacker's bytes back.
func TestHostile_a_journal_planted_in_memory_is_not_believed(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"apply", "sync", "commit", "clean"} {
		eachArchive(t, phase, func(t *testing.T, fsys afero.Fs) {
			p := decoded(t, act("search", obj{"pattern": "good"}), act("delete", obj{"files": []string{"other.txt"}}))
			if err := afero.WriteFile(fsys, "other.txt", nil, 0o644); err != nil {
				t.Fatal(err)
			}
			_, rerr := host().Recover(t.Context(), fsys)
			_, err := host().Run(t.Context(), fsys, p)
			for _, err := range []error{rerr, err} {
				failed, ok := errors.AsType[*millrace.CommitError](err)
				if !ok || failed.State != millrace.CommitPending || !errors.Is(err, &journal.Error{Reason: journal.BadKey}) {
					t.Fatalf("%s: error is %v", phase, err)
				}
			}
			found, err := host().Inspect(t.Context(), fsys)
			if err != nil || !found.Blocked() {
				t.Fatalf("%s: %+v, %v", phase, found, err)
			}
			victim(t, fsys)
			if err := host().DiscardLeftover(t.Context(), fsys, found.Leftovers[0].ID); err != nil {
				t.Fatal(err)
			}
			if _, err := host().Run(t.Context(), fsys, p); err != nil {
				t.Error(err)
			}
			victim(t, fsys)
		})
	}
}

// TestHostile_a_backup_planted_in_memory_is_not_restored loads an archive with a backup.
func TestHostile_a_backup_planted_in_memory_is_not_restored(t *testing.T) {
	t.Parallel()
	eachArchive(t, "", func(t *testing.T, fsys afero.Fs) {
		list, err := host().ListBackups(t.Context(), fsys)
		if err != nil || len(list) != 1 || !errors.Is(list[0].Err, &journal.Error{Reason: journal.BadKey}) {
			t.Fatalf("%+v, %v", list, err)
		}
		if _, err := host().Restore(t.Context(), fsys, list[0].ID); !errors.Is(err, &journal.Error{Reason: journal.BadKey}) {
			t.Errorf("restored: %v", err)
		}
		victim(t, fsys)
	})
}

// TestHostile_a_result_planted_in_memory_is_not_replayed loads an archive with a forged result of the run.
func TestHostile_a_result_planted_in_memory_is_not_replayed(t *testing.T) {
	t.Parallel()
	p := decoded(t, act("delete", obj{"files": []string{"victim.txt"}}))
	for signed, key := range strangerKeys {
		stored := storedRun(t, key, "deploy", p)
		for kind, fsys := range unpacked(t, map[string]string{"victim.txt": "good\n", ".millrace/results/deploy.json": stored}) {
			x := host()
			x.RunID = "deploy"
			res, err := x.Run(t.Context(), fsys, p)
			bad, ok := errors.AsType[*millrace.ExecutorError](err)
			if !ok || bad.Field != "RunID" || bad.Value != "deploy" || res != nil && res.Success {
				t.Errorf("%s, %s: %+v, %v", kind, signed, res, err)
			}
		}
	}
}

// storedRun returns the file that records the run as a success, signed with the key.
func storedRun(t *testing.T, key []byte, runID string, p millrace.Pipeline) string {
	t.Helper()
	result, err := json.Marshal(&millrace.Result{Name: p.Name(), Success: true, RunID: runID})
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "millrace run 1\n%s\n%s\n", runID, p.Digest())
	mac.Write(result)
	data, err := json.Marshal(map[string]any{"digest": p.Digest(), "result": json.RawMessage(result), "mac": mac.Sum(nil)})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
