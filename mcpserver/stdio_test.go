package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/mcpserver"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// serveRoot names, in the environment of a process of this test, the directory that it serves instead of running tests.
const serveRoot = "MILLRACE_TEST_SERVE"

func TestMain(m *testing.M) {
	if root := os.Getenv(serveRoot); root != "" {
		if err := serveStdio(root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// withStore, in the environment of such a process, makes the server keep runs.
const withStore = "MILLRACE_TEST_STORE"

func serveStdio(root string) error {
	cfg := mcpserver.Config{Root: root, Aliases: true, Executor: millrace.Executor{State: millrace.State{NoSync: true, Key: make([]byte, 32)}}}
	if os.Getenv(withStore) != "" {
		tools, closing, err := runTools(root)
		if err != nil {
			return err
		}
		defer closing()
		cfg.Runs = tools
	}
	s, err := mcpserver.New(cfg)
	if err != nil {
		return err
	}
	return errors.Join(s.ServeStdio(context.Background()), s.Close())
}

// runTools returns the commands over runs of a tree.
func runTools(dir string) (tools runs.Tools, closing func(), err error) {
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		return tools, nil, err
	}
	x := millrace.Executor{State: millrace.State{NoSync: true, Key: make([]byte, 32)}}
	store, err := rundir.Open(root, rundir.DefaultDir, rundir.Options{Key: x.State.Key, NoSync: true})
	if err != nil {
		return tools, nil, errors.Join(err, root.Close())
	}
	m, err := store.Manage(rundir.Host{Executor: x, Trees: oneTree{root}})
	if err != nil {
		return tools, nil, errors.Join(err, root.Close())
	}
	return runs.Tools{Browse: store, Manage: m, Jobs: m.Jobs()}, func() { _ = errors.Join(m.Close(context.Background()), root.Close()) }, nil
}

// process starts a server of a directory.
func process(t testing.TB, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), serveRoot+"="+dir)
	return cmd
}

func TestStdio(t *testing.T) {
	dir := tree(t, many(60))
	p := &person{action: "accept", approve: true}
	var stderr strings.Builder
	cmd := process(t, dir)
	cmd.Stderr = &stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, p.options()).Connect(t.Context(),
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err, stderr.String())
	}
	c := &client{ClientSession: session, t: t, dir: dir}
	if got := entry(t, c.good("fs_read", `{"mode":"Line","path":"f000.txt"}`)); got.Content != "recieve\n" {
		t.Errorf("the answer is %+v", got)
	}
	c.good("batch_operations", `{"pipeline_json":`+fixAll+`}`)
	c.holds(fixed(many(60)))
	if len(p.asked) != 1 {
		t.Errorf("the person was asked %d times", len(p.asked))
	}
	c.bad("fs_write", `{"command":"append","path":"f000.txt"}`, "new_str")
	if err := session.Close(); err != nil {
		t.Errorf("the end of the process: %v", err)
	}
	if stderr.String() != "" {
		t.Errorf("the server prints %q", stderr.String())
	}
}

// A message that is too long is not kept in memory and is answered with an error, even if the input ends in it.
func TestStdioTooLong(t *testing.T) {
	cmd := process(t, t.TempDir())
	part := strings.Repeat("x", 1<<20)
	cmd.Stdin = io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`),
		strings.NewReader(strings.Repeat(part, 20)))
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"code":-32700`) {
		t.Errorf("%v: the answer is %s", err, out)
	}
}

// A file of calls can be the input: calls before its end are answered.
func TestStdioDrains(t *testing.T) {
	dir := tree(t, many(3))
	var in strings.Builder
	in.WriteString(ping + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for i := range 20 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fs_read","arguments":{"mode":"Line","path":"f000.txt"}}}`+"\n", i+2)
	}
	cmd := process(t, dir)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(out), `"content":"recieve\n"`); n != 20 {
		t.Errorf("%d of 20 calls are answered: %s", n, out)
	}
}
