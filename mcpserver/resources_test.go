package mcpserver_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace/mcpserver"
)

func TestResources(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- src/a.txt --\nrecieve\n", nil)
	read := func(uri string) string {
		t.Helper()
		res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
		return res.Contents[0].Text
	}
	if !json.Valid([]byte(read("millrace://schema/pipeline"))) {
		t.Error("the schema is not JSON")
	}
	has(t, read("millrace://docs/json"), "# Pipelines", "## edit_files", "- old_text: a string, required")
	r := c.good("plan_pipeline", `{"pipeline_json":`+fixTypo+`}`)
	id, digest := line(t, r.text, "plan_id: "), line(t, r.text, "digest: ")
	has(t, read("millrace://plans/"+id), `"digest":"`+digest, `"modified":["src/a.txt"]`)
	has(t, read("millrace://plans/"+id+"/diff"), "+receive")
	r = c.good("apply_plan", `{"plan_id":"`+id+`","digest":"`+digest+`"}`)
	backup := strings.TrimSuffix(line(t, r.text, "backup: "), " (undo takes it back)")
	has(t, read("millrace://backups/"+backup+"/diff"), "+recieve")
	for _, uri := range []string{"millrace://plans/nope", "millrace://plans/nope/diff", "millrace://backups/nope/diff",
		"millrace://backups/../x/diff", "file:///etc/passwd"} {
		if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read", uri)
		}
	}
	list, err := c.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

// The server uses only public packages.
func TestPublicPackagesOnly(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "millrace-go/millrace") || strings.Contains(string(out), "/internal/") {
		t.Errorf("the imports are %s", out)
	}
}

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	for name, cfg := range map[string]mcpserver.Config{
		"no tree": {}, "short": {Root: dir, MaxResult: 10}, "no such root": {Root: dir + "/nope"},
	} {
		if s, err := mcpserver.New(cfg); err == nil {
			t.Errorf("%s: a server was made", name)
			_ = s.Close()
		}
	}
}

// Each model reads the instructions and the description of the server.
func TestInitialize(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "", nil)
	res := c.InitializeResult()
	if n := len(res.Instructions); n < 300 || n > 800 {
		t.Errorf("the instructions have %d bytes", n)
	}
	if caps := quote(res.Capabilities); strings.Contains(caps, "logging") || strings.Contains(caps, "prompts") {
		t.Errorf("the capabilities are %s", caps)
	}
}

// A diff that is longer than a resource is cut at a line, and its last line reports that.
func TestResourceTooLong(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\n"+strings.Repeat("recieve é\n", 300_000), nil)
	r := c.good("plan_pipeline", `{"pipeline_json":{"name":"x","steps":[{"id":"e","action":"edit","params":{"files":["a.txt"],"old_text":"recieve","new_text":"receive"}}]},"diff":"none"}`)
	id := line(t, r.text, "plan_id: ")
	res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "millrace://plans/" + id + "/diff"})
	if err != nil {
		t.Fatal(err)
	}
	text := res.Contents[0].Text
	last := text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:]
	if !strings.HasPrefix(last, "… cut: ") || !strings.Contains(last, "review_plan") || len(text) > 4<<20+200 {
		t.Errorf("%d bytes, and the last line is %q", len(text), last)
	}
}
