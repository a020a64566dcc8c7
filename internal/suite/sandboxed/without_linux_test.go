package sandboxed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/suite"
)

// hosts are programs that run pipelines themselves.
var hosts = map[string]func(args []string) error{"host": func([]string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "scratch")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	x := millrace.Executor{Commands: command.Policy{
		Allow: []string{command.Pattern(self) + " *"}, StepEnv: []string{"SANDBOXED_ACT"}, Scratch: dir,
	}}
	for _, mode := range []command.Sandbox{command.Required, command.BestEffort, command.Off} {
		x.Commands.Sandbox = mode
		res, err := x.Run(context.Background(), suite.Tree("a.txt", "one\n"), suite.One(step("list", dir)))
		problem := ""
		if invalid, ok := errors.AsType[*millrace.ValidationError](err); ok {
			problem = invalid.Problems[0].Code
		}
		fmt.Printf("%v: %s %s %v\n", mode, millrace.ErrorCode(err), problem, err)
		if err == nil {
			data, _ := json.Marshal(res.Results[0].Data.(map[string]any)["sandbox"])
			fmt.Println(string(data))
		}
	}
	return nil
}}

// A host on a kernel without Landlock gets an error that names a setting, before anything runs. The host may accept
// less protection, and the result reports which.
func TestRequiredWhereThereIsNone(t *testing.T) {
	newWorld(t) // skips on systems without a sandbox
	if needsFilter(escape{"uring"}) {
		t.Skip("NOT TESTED: system calls are not filtered here, so none is missing")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "SANDBOXED_ACT=host")
	var out []byte
	refused := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends here
		err := without(unix.SYS_LANDLOCK_CREATE_RULESET)
		if err == nil {
			out, err = cmd.CombinedOutput()
		}
		refused <- err
	}()
	if err := <-refused; err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 5 {
		t.Fatalf("the output is\n%s", out)
	}
	for i, want := range []string{
		"required: invalid_pipeline exec_denied ", "best effort:  ", `{"network":"seccomp"}`, "off:  ", `{}`,
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("%q, want %q", lines[i], want)
		}
	}
	for _, want := range []string{"the kernel has no Landlock", "Linux 5.13", "BestEffort", "Runner"} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("%q has no %q", lines[0], want)
		}
	}
}

// without makes a system call fail from now on, as on a kernel that lacks it.
func without(call uint32) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	p := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return errno
	}
	return nil
}
