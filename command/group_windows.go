package command

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/millrace-go/millrace/internal/sandbox"
)

// Errors of a start when a program is still being written, and when there are too many arguments.
const (
	errTextBusy = windows.ERROR_SHARING_VIOLATION
	errTooLong  = windows.ERROR_FILENAME_EXCED_RANGE
)

// dying is the time that killed processes may need to end.
const dying = 10 * time.Second

// group is all processes of one command: a job object. When its handle is closed, also by the death of the host, all
// processes in it end.
type group struct {
	token string
	job   windows.Handle
	pid   uint32
}

// marked returns the rules: this system has no marks.
func (g *group) marked(rules *sandbox.Rules) *sandbox.Rules { return rules }

func newGroup(string) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("job object: %w", err)
	}
	return &group{token: rand.Text(), job: job}, nil
}

// cookie returns a unique value for each command; it is not used to find processes here.
func (g *group) cookie() string { return g.token }

// prepare makes the program wait until it is in the job, so that it starts no process outside.
func (g *group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
}

func (g *group) started(process *os.Process) error {
	g.pid = uint32(process.Pid)
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.pid)
	if err != nil {
		return fmt.Errorf("job object: %w", err)
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	if err := windows.AssignProcessToJobObject(g.job, handle); err != nil {
		return fmt.Errorf("job object: %w", err)
	}
	return resume(g.pid)
}

// resume resumes the threads of a process.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("threads: %w", err)
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	resumed := false
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("threads: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		if err != nil {
			return fmt.Errorf("threads: %w", err)
		}
		resumed = true
	}
	if !resumed {
		return errors.New("threads: the program has none")
	}
	return nil
}

// terminate asks the program to end, like Ctrl-Break. A program without a console does not notice it.
func (g *group) terminate() { _ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.pid) }

// kill ends all processes in the job.
func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	userTime, kernelTime, periodUserTime, periodKernelTime int64
	pageFaults, total, active, terminated                  uint32
}

// sweep ends the remaining processes in the job, and waits until none is left.
func (g *group) sweep() error {
	const basicAccounting = 1
	deadline := time.Now().Add(dying)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		g.kill()
		var info accounting
		err := windows.QueryInformationJobObject(g.job, basicAccounting, uintptr(unsafe.Pointer(&info)),
			uint32(unsafe.Sizeof(info)), nil)
		if err != nil || info.active == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the command has left %d processes that cannot be killed", info.active)
		}
		time.Sleep(wait)
	}
}

func (g *group) close() { _ = windows.CloseHandle(g.job) }

// ending returns the exit status. Windows has no signals.
func ending(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }
