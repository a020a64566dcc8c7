//go:build linux

package hostile_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// diskJobVariable is the environment variable with the job that a process of this binary runs instead of tests.
const diskJobVariable = "MILLRACE_HOSTILE_JOB"

// diskJob is the work of a process on a tree.
type diskJob struct {
	Dir      string
	Pipeline string // a name in diskPipelines; "" means to recover
	// Sigkill kills the process at the first matching operation, after an operation that matches SigkillAfter, or at the
	// SigkillAt-th that matches.
	Sigkill, SigkillAfter string
	SigkillAt             int
	Plain                 bool   // on a file system without abilities
	Foreign               bool   // with ReplaceForeign
	InPlace, NoSync       bool   // as of the executor
	Blind                 bool   // the permissions of this process are unknown until the system refuses an operation
	Nofile, Fsize         uint64 // limits; 0 means no limit
	Workers               int    // 0 means 1
	// Trees are directories. The pipeline for each is in a file next to it, with the ending .json. Of the other fields
	// only Foreign and Blind apply then.
	Trees []string
	// Act is done in each of the trees instead of a run, see [diskJob.act].
	Act string
}

// diskReport is the report of a diskJob.
type diskReport struct {
	Killed   bool `json:"-"`
	Error    string
	State    millrace.CommitState
	Errnos   []syscall.Errno
	Warnings []string
	Backup   string
	Typed    bool // a *CommitError, *StepError or *BlockedError
	// Failed has the reason for each file that the last step reports as failed.
	Failed map[string]string
	Trees  map[string]diskReport // of the job's Trees
}

func (r diskReport) is(errno syscall.Errno) bool {
	for _, e := range r.Errnos {
		if e == errno {
			return true
		}
	}
	return false
}

// start has another process of this binary do the job and waits for it. prepare may change the command.
func (j diskJob) start(t testing.TB, prepare ...func(cmd *exec.Cmd)) diskReport {
	t.Helper()
	data, err := json.Marshal(j)
	must(t, err)
	var out []byte
	for range 100 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHostileJob$")
		cmd.Env = append(os.Environ(), diskJobVariable+"="+string(data))
		for _, change := range prepare {
			change(cmd)
		}
		// A copy of the binary is busy while a process that another test is starting has it open for writing.
		if out, err = cmd.CombinedOutput(); !errors.Is(err, syscall.ETXTBSY) {
			break
		}
	}
	exit, _ := errors.AsType[*exec.ExitError](err)
	if exit != nil && exit.Sys().(syscall.WaitStatus).Signaled() {
		return diskReport{Killed: true}
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "REPORT "); ok {
			var r diskReport
			must(t, json.Unmarshal([]byte(text), &r))
			return r
		}
	}
	t.Fatalf("process of %+v: %v\n%s", j, err, out)
	return diskReport{}
}

// as makes a command run as another user, from a copy of this binary that this user can reach.
func as(t testing.TB, uid uint32) func(cmd *exec.Cmd) {
	t.Helper()
	needRoot(t)
	binary := filepath.Join(openTemp(t), "hostile.test")
	from, err := os.Open(os.Args[0])
	must(t, err)
	defer from.Close()
	to, err := os.OpenFile(binary, os.O_WRONLY|os.O_CREATE, 0o755)
	must(t, err)
	_, err = io.Copy(to, from)
	must(t, err, to.Close())
	return func(cmd *exec.Cmd) {
		cmd.Path, cmd.Dir = binary, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		cmd.Env = append(cmd.Env, "HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent")
	}
}

// TestHostileJob tests nothing: other tests start processes that run it.
func TestHostileJob(t *testing.T) {
	text := os.Getenv(diskJobVariable)
	if text == "" {
		t.Skip("this is the other process of other tests, and no test has started it")
	}
	var j diskJob
	must(t, json.Unmarshal([]byte(text), &j))
	for limit, value := range map[int]uint64{unix.RLIMIT_NOFILE: j.Nofile, unix.RLIMIT_FSIZE: j.Fsize} {
		if value > 0 {
			must(t, syscall.Setrlimit(limit, &syscall.Rlimit{Cur: value, Max: value}))
		}
	}
	r := diskReport{Trees: make(map[string]diskReport)}
	for _, dir := range j.Trees {
		text, err := os.ReadFile(dir + ".json")
		must(t, err)
		if j.Act != "" {
			r.Trees[dir] = diskJob{Dir: dir, Pipeline: string(text), Act: j.Act}.act(t)
			continue
		}
		r.Trees[dir] = diskJob{Dir: dir, Pipeline: string(text), Foreign: j.Foreign, Blind: j.Blind, NoSync: true}.run(t)
	}
	if len(j.Trees) == 0 {
		r = j.run(t)
	}
	data, err := json.Marshal(r)
	must(t, err)
	fmt.Printf("\nREPORT %s\n", data)
}

// blindFs is a tree that claims all permissions.
type blindFs struct{ *rootfs.FS }

func (blindFs) MayChange(string) error        { return nil }
func (blindFs) Owns(capability.Identity) bool { return true }

// failedFiles returns the reasons for the files that the last step reports as failed.
func failedFiles(res *millrace.Result) map[string]string {
	failed := make(map[string]string)
	if len(res.Results) == 0 {
		return failed
	}
	for _, f := range res.Results[len(res.Results)-1].Files {
		if f.Error != "" {
			failed[f.Path] = f.Error
		}
	}
	return failed
}

func (j diskJob) run(t *testing.T) diskReport {
	root, err := rootfs.Open(j.Dir)
	must(t, err)
	defer root.Close()
	h := &opHook{}
	if j.Sigkill != "" {
		match, count := seen(j.SigkillAfter, j.Sigkill), 0
		h.before = func(event string) error {
			if match(event) {
				if count++; count >= j.SigkillAt {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // nothing runs after this
				}
			}
			return nil
		}
	}
	var base afero.Fs = root
	if j.Blind {
		base = blindFs{root}
	}
	fsys := h.wrap(base)
	if j.Plain {
		fsys = errorfs.Plain(fsys)
	}
	x := millrace.Executor{State: millrace.State{NoSync: j.NoSync}, Observe: h.observe, Workers: max(1, j.Workers), MaxFiles: -1, ReplaceForeign: j.Foreign, InPlace: j.InPlace}
	var r diskReport
	if j.Pipeline == "" {
		_, err = x.Recover(t.Context(), fsys)
	} else {
		var res *millrace.Result
		p, known := diskPipelines()[j.Pipeline]
		if !known {
			var wrong error
			p, wrong = millrace.Decode([]byte(j.Pipeline))
			must(t, wrong)
		}
		res, err = x.Run(t.Context(), fsys, p)
		if res != nil {
			r.State, r.Warnings, r.Backup = res.Commit.State, res.Warnings, res.BackupID
			r.Failed = failedFiles(res)
		}
	}
	if err != nil {
		r.Error = err.Error()
		_, commit := errors.AsType[*millrace.CommitError](err)
		_, step := errors.AsType[*millrace.StepError](err)
		_, block := errors.AsType[*millrace.BlockedError](err)
		r.Typed = commit || step || block
		for _, errno := range []syscall.Errno{
			syscall.ENOSPC, syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.EMFILE, syscall.EFBIG, syscall.EIO,
		} {
			if errors.Is(err, errno) {
				r.Errnos = append(r.Errnos, errno)
			}
		}
	}
	return r
}
