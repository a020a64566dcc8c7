//go:build linux

package hostile_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/journal"
)

// unfinished returns a tree in which a process was killed right before the commit point, and the name of its plan.
func unfinished(t *testing.T) (dir, plan string) {
	t.Helper()
	dir = fstest.TempDir(t)
	everything(t, dir)
	if r := (diskJob{Dir: dir, Pipeline: "everything", Sigkill: `^rename T/done$`}).start(t); !r.Killed {
		t.Fatalf("it was not killed: %+v", r)
	}
	plans, err := filepath.Glob(filepath.Join(dir, stateName, "tx/*/plan"))
	if err != nil || len(plans) != 1 {
		t.Fatalf("plans: %v, %v", plans, err)
	}
	return dir, plans[0]
}

// refused checks that Recover and Run change nothing and give an expected reason, and that a dry run still works.
func refused(t *testing.T, what, dir string, reasons ...journal.Reason) {
	t.Helper()
	before := treeOf(t, dir, exact|private)
	x, fsys := host(), openDir(t, dir)
	defer fsys.Close()
	_, recover := x.Recover(t.Context(), fsys)
	_, run := x.Run(t.Context(), fsys, altering(put("other", "x")))
	for _, err := range []error{recover, run} {
		failed, ok := errors.AsType[*millrace.CommitError](err)
		if !ok || failed.State != millrace.CommitPending || !errors.Is(err, commit.ErrRecoveryRequired) {
			t.Fatalf("%s: error is %T %v", what, err, err)
		}
		bad, ok := errors.AsType[*journal.Error](err)
		if !ok || !strings.Contains(fmt.Sprint(reasons), string(bad.Reason)) || !strings.Contains(err.Error(), stateName+"/tx/") {
			t.Fatalf("%s: error is %v, want one of %q", what, err, reasons)
		}
	}
	if plan, err := x.Plan(t.Context(), fsys, altering(put("other", "x"))); err != nil || len(plan.Changes()) != 1 {
		t.Fatalf("%s: a dry run does not work: %v", what, err)
	}
	found, err := x.Inspect(t.Context(), fsys)
	if err != nil || !found.Blocked() || found.Leftovers[0].Reason == "" {
		t.Fatalf("%s: inspection %+v, %v", what, found, err)
	}
	sameTree(t, what, dir, before, exact|private)
}

// TestHostile_damaged_journal flips bits of the plan, truncates it, and changes its version. With the right plan,
// recovery works again.
func TestHostile_damaged_journal(t *testing.T) {
	t.Parallel()
	dir, plan := unfinished(t)
	good, err := os.ReadFile(plan)
	must(t, err)
	write := func(data []byte) { must(t, os.WriteFile(plan, data, 0o600)) }
	flips := fstest.Runs(20, 60, len(good))
	for i := range flips {
		at := i * len(good) / flips
		bad := bytes.Clone(good)
		bad[at] ^= 1 << (i % 8)
		write(bad)
		refused(t, fmt.Sprintf("bit %d of byte %d", i%8, at), dir, journal.BadChecksum, journal.BadVersion, journal.BadKey)
		write(good[:at])
		refused(t, fmt.Sprintf("cut off at %d", at), dir, journal.BadChecksum)
	}
	write(bytes.Replace(good, []byte("millrace plan 1\n"), []byte("millrace plan 2\n"), 1))
	refused(t, "newer", dir, journal.BadVersion)
	write(append(bytes.Clone(good), good...))
	refused(t, "twice", dir, journal.BadChecksum)
	write(good)
	recovered(t, dir)
	fstest.Countf(t, "%d bits, %d lengths", flips, flips)
}

// recovered runs a recovery and checks that the tree is the tree of everything.
func recovered(t *testing.T, dir string) {
	t.Helper()
	_, err := host().Recover(t.Context(), openDir(t, dir))
	must(t, err)
	sameTree(t, "recovered", dir, contentOnly(t), contents)
}

// TestHostile_planted_journal has a tree with a journal from elsewhere, such as an archive.
func TestHostile_planted_journal(t *testing.T) {
	t.Parallel()
	for name, sign := range map[string]func(t *testing.T, data []byte) []byte{
		// The user may have copied or unpacked a tree of their own.
		"signed by this user": func(_ *testing.T, data []byte) []byte { return data },
		"signed by another": func(t *testing.T, data []byte) []byte {
			t.Helper()
			return resigned(t, data, []byte("the key of somebody else, 32 byte"))
		},
		"not signed": func(t *testing.T, data []byte) []byte {
			t.Helper()
			return resigned(t, data, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attacker, plan := unfinished(t)
			data, err := os.ReadFile(plan)
			must(t, err, os.WriteFile(plan, sign(t, data), 0o600))
			clone := filepath.Join(fstest.TempDir(t), "clone")
			must(t, exec.CommandContext(t.Context(), "cp", "-a", attacker, clone).Run())
			refused(t, name, clone, journal.BadKey, journal.BadIdentity)

			// After the transaction is removed by hand, as the error advises, nothing is blocked.
			must(t, os.RemoveAll(filepath.Join(clone, stateName, "tx")))
			_, err = host().Run(t.Context(), openDir(t, clone), altering(put("other", "x")))
			must(t, err)
		})
	}
}

// TestHostile_planted_backup has a tree with a backup that this user has not signed.
func TestHostile_planted_backup(t *testing.T) {
	t.Parallel()
	if key, err := journal.UserKey(true); err != nil || key == nil {
		t.Skipf("this user has no key, so nothing is signed: %v", err)
	}
	for name, key := range map[string][]byte{"signed by another": []byte("the key of somebody else, 32 byte"), "not signed": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attacker := fstest.TempDir(t)
			plantDir(t, attacker, "a=evil")
			res, err := host().Run(t.Context(), openDir(t, attacker), altering(put("a", "good")))
			must(t, err)
			done := filepath.Join(attacker, stateName, "backups", res.BackupID, "done")
			data, err := os.ReadFile(done)
			must(t, err, os.WriteFile(done, resigned(t, data, key), 0o600))
			clone := filepath.Join(fstest.TempDir(t), "clone")
			must(t, exec.CommandContext(t.Context(), "cp", "-a", attacker, clone).Run())
			before := treeOf(t, clone, exact|private)
			_, err = host().Restore(t.Context(), openDir(t, clone), res.BackupID)
			if bad, ok := errors.AsType[*journal.Error](err); !ok || bad.Reason != journal.BadKey || !strings.Contains(err.Error(), res.BackupID) {
				t.Errorf("error is %T %v", err, err)
			}
			list, err := host().ListBackups(t.Context(), openDir(t, clone))
			if err != nil || len(list) != 1 || list[0].Err == nil {
				t.Errorf("listed as %+v, %v", list, err)
			}
			sameTree(t, "backup", clone, before, exact|private)
		})
	}
}

// resigned returns a plan with correct checksums, signed with the key.
func resigned(t *testing.T, data, key []byte) []byte {
	t.Helper()
	body, _, ok := bytes.Cut(data, []byte("sum "))
	if !ok {
		t.Fatal("the plan has no sum")
	}
	lines := strings.SplitAfter(string(body), "\n")
	var b bytes.Buffer
	b.WriteString(lines[0])
	for _, line := range lines[1 : len(lines)-1] {
		_, payload, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		fmt.Fprintf(&b, "%08x %s\n", crc32.Checksum([]byte(payload), crc32.MakeTable(crc32.Castagnoli)), payload)
	}
	signature := "-"
	if key != nil {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("millrace plan v1\x00"))
		mac.Write(b.Bytes())
		signature = hex.EncodeToString(mac.Sum(nil))
	}
	sum := sha256.Sum256(b.Bytes())
	fmt.Fprintf(&b, "sum %x %s\n", sum, signature)
	return b.Bytes()
}

// TestHostile_journal_with_evil_path has plans that are signed with the right key, but with paths that may not be
// written to.
func TestHostile_journal_with_evil_path(t *testing.T) {
	t.Parallel()
	key, err := journal.UserKey(true)
	must(t, err)
	dir, plan := unfinished(t)
	good, err := os.ReadFile(plan)
	must(t, err)
	if again := resigned(t, good, key); !bytes.Equal(again, good) {
		t.Fatalf("the test does not sign as the library does:\n%s\n%s", good, again)
	}
	for _, evil := range []string{
		"../../x", "../x", "/etc/passwd", "edit/../../x", "./edit", "edit/", "", ".", "..", "a//b", `a\u0000b`,
		".git/hooks/x", ".GIT/hooks/x", "git~1/hooks/x", ".git./x", `.g\u200cit/hooks/x`, "sub/.git/config", ".hg/hgrc", ".svn/x",
		".millrace/lock", ".Millrace/tx/x", ".millrace", strings.Repeat("n", 256),
	} {
		bad := strings.Replace(string(good), `"path":"edit"`, `"path":"`+evil+`"`, 1)
		if bad == string(good) {
			t.Fatal("the plan has no such path")
		}
		must(t, os.WriteFile(plan, resigned(t, []byte(bad), key), 0o600))
		refused(t, evil, dir, journal.BadPath, journal.BadFormat)
	}
	for what, change := range map[string][2]string{
		"far directory":   {`"path":"edit",`, `"path":"edit","far_dir":"../..",`},
		"state directory": {`"state_dir":".millrace"`, `"state_dir":"swap"`},
		"slot":            {`"slot":0`, `"slot":-1`},
		"from":            {`"from":"from"`, `"from":"../from"`},
		"same path twice": {`"path":"gone"`, `"path":"edit"`},
		"below a file":    {`"path":"gone"`, `"path":"edit/gone"`},
		"unknown field":   {`"path":"edit",`, `"path":"edit","shell":"rm -rf /",`},
		"field twice":     {`"path":"edit",`, `"path":"edit","path":"/etc/passwd",`},
	} {
		bad := strings.Replace(string(good), change[0], change[1], 1)
		if bad == string(good) {
			t.Fatalf("the plan has no %s", change[0])
		}
		must(t, os.WriteFile(plan, resigned(t, []byte(bad), key), 0o600))
		refused(t, what, dir, journal.BadPath, journal.BadFormat, journal.BadRecord, journal.BadIdentity)
	}
	must(t, os.WriteFile(plan, good, 0o600))
	recovered(t, dir)
}
