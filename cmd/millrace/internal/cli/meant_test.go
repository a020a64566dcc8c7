package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
)

// meantDoors returns the doors at which a user or a program enters a name, with their answers to wrong names. A pair is
// a wrong name and the part of the answer with the right name. Each door has at least one synonym, which no comparison
// of spellings finds, and one misspelling.
func meantDoors() []meantDoor {
	return []meantDoor{
		{"flag", prompt("replace a b --%s"), [][2]string{
			{"preview", "did you mean --dry-run?"}, {"no-write", "did you mean --dry-run?"},
			{"dry-rnu", "did you mean --dry-run?"},
		}},
		{"value of a flag", prompt("replace a b --color %s"), [][2]string{
			{"off", "did you mean never?"}, {"alwasy", "did you mean always?"},
		}},
		{"key of the configuration", configured("%s: x\n"), [][2]string{
			{"max_risk", `did you mean "ceiling"?`}, {"shell", `did you mean "exec"?`}, {"pagr", `did you mean "pager"?`},
		}},
		{"key of a part of the configuration", configured("agents: {default: {command: [x], %s: 10s}}\n"), [][2]string{
			{"timeout_seconds", `did you mean "timeout"?`}, {"timout", `did you mean "timeout"?`},
		}},
		{"key of the project's configuration", inProject("%s: [a]\n"), [][2]string{
			{"forbid", `did you mean "deny"?`}, {"denny", `did you mean "deny"?`},
		}},
		{"value in the configuration", configured("color: %s\n"), [][2]string{
			{"off", `did you mean "never"?`}, {"nevr", `did you mean "never"?`},
		}},
		{"field of a pipeline", strict(`{"name":"p","%s":true,"steps":[` + searchStep + `]}`), [][2]string{
			{"simulate", "did you mean 'dry_run'?"}, {"fail_fast", "did you mean 'stop_on_error'?"},
			{"dryrnu", "did you mean 'dry_run'?"},
		}},
		{"field of a step", second(`"%s":"find","action":"edit","params":{"old_text":"a","new_text":"b"}`), [][2]string{
			{"files_from", "did you mean 'input_from'?"}, {"inptu_from", "did you mean 'input_from'?"},
		}},
		{"field of a condition", second(onCondition(`"type":"has_matches","%s":"find"`)), [][2]string{
			{"ref", "did you mean 'step_ref'?"}, {"stp_ref", "did you mean 'step_ref'?"},
		}},
		{"type of a condition", second(onCondition(`"type":"%s","step_ref":"find"`)), [][2]string{
			{"greater_than", "did you mean 'count_gt'?"}, {"equals", "did you mean 'count_eq'?"},
			{"has_match", "did you mean 'has_matches'?"},
		}},
		{"field of a way back", second(`"action":"fail","params":{"message":"m"},"retry_if":[{"step":"find","%s":"x"}]`),
			[][2]string{{"contains", "did you mean 'keyword'?"}, {"keywrod", "did you mean 'keyword'?"}}},
		{"field in a template", second(`"action":"fail","params":{"message":"{{find.%s}}"}`), [][2]string{
			{"risk_level", "did you mean 'risk'?"}, {"edits_applied", "did you mean 'edits'?"},
			{"fils", "did you mean 'files'?"},
		}},
		{"data of a command", strict(`{"name":"p","steps":[{"id":"x","action":"exec","params":{"command":"true"}},` +
			`{"id":"y","action":"fail","params":{"message":"{{x.data.%s}}"}}]}`), [][2]string{
			{"returncode", "did you mean 'exit_code'?"}, {"stdoutt", "did you mean 'stdout'?"},
		}},
		{"field of a variable", strict(`{"name":"p","variables":{"v":{"type":"string","%s":["a"]}},"steps":[` +
			searchStep + `]}`), [][2]string{{"choices", `write "enum"`}, {"defualt", `write "default"`}}},
		{"type of a variable", strict(`{"name":"p","variables":{"v":{"type":"%s"}},"steps":[` + searchStep + `]}`),
			[][2]string{{"bool", "did you mean 'boolean'?"}, {"array", "did you mean 'list'?"},
				{"strng", "did you mean 'string'?"}}},
		{"parameter in JSON", strict(`{"name":"p","steps":[{"id":"a","action":"search","params":{"%s":"x"}}]}`),
			[][2]string{{"query", "did you mean 'pattern'?"}, {"patern", "did you mean 'pattern'?"}}},
		{"parameter within another", strict(`{"name":"p","steps":[{"id":"a","action":"multi_edit",` +
			`"params":{"files":["a"],"edits":[{"old_text":"a","%s":"b"}]}}]}`),
			[][2]string{{"new_string", "did you mean 'new_text'?"}, {"new_txt", "did you mean 'new_text'?"}}},
		{"parameter in YAML", inFile("p.yaml", "name: p\nsteps:\n- {id: a, action: search, params: {%s: x}}\n"),
			[][2]string{{"query", "did you mean 'pattern'?"}, {"patern", "did you mean 'pattern'?"}}},
		{"parameter of do", prompt("do search %s=x"), [][2]string{
			{"query", "did you mean 'pattern'?"}, {"patern", "did you mean 'pattern'?"},
		}},
		{"parameter, decoded leniently", lenient(`{"name":"p","steps":[{"id":"a","action":"search",` +
			`"params":{"%s":"x"}}]}`), [][2]string{
			{"query", "'query' was read as 'pattern'"}, {"patern", "'patern' was read as 'pattern'"},
		}},
		{"field of a pipeline, decoded leniently", lenient(`{"name":"p","%s":true,"steps":[` + searchStep + `]}`),
			[][2]string{
				{"simulate", "'simulate' was read as 'dry_run'"}, {"dryrnu", "'dryrnu' was read as 'dry_run'"},
			}},
		{"value of an enum", strict(`{"name":"p","steps":[{"id":"a","action":"search","params":{"pattern":"x",` +
			`"mode":"%s"}}]}`), [][2]string{
			{"plain", "did you mean 'literal'? Use 'auto'"}, {"re", "did you mean 'regex'?"},
			{"regxe", "did you mean 'regex'?"},
		}},
		{"action in JSON", strict(`{"name":"p","steps":[{"id":"a","action":"%s"}]}`), [][2]string{
			{"grep", "did you mean 'search'?"}, {"remove", "did you mean 'delete'?"}, {"serach", "did you mean 'search'?"},
		}},
		{"action of do", prompt("do %s files=a"), [][2]string{
			{"rm", "did you mean 'delete'?"}, {"delet", "did you mean 'delete'?"},
		}},
		{"action at the prompt", prompt("actions %s"), [][2]string{
			{"mv", `did you mean "rename"?`}, {"renmae", `did you mean "rename"?`},
		}},
		{"kind of a first pipeline", prompt("init %s"), [][2]string{
			{"loop", `did you mean "fix-loop"?`}, {"mv", `did you mean "rename"?`}, {"codmod", `did you mean "codemod"?`},
		}},
		{"tool over MCP", overMCP(`"name":"%s","arguments":{}`), [][2]string{
			{"rollback", "did you mean 'undo'?"}, {"open_file", "did you mean 'fs_read'?"},
			{"fs_raed", "did you mean 'fs_read'?"},
		}},
		{"argument over MCP", overMCP(`"name":"fs_read","arguments":{"mode":"Search","path":"a.txt","%s":"x"}`),
			[][2]string{{"query", "'query' was read as 'pattern'"}, {"pattren", "did you mean 'pattern'?"}}},
		{"value over MCP", overMCP(`"name":"fs_read","arguments":{"mode":"%s","path":"a.txt","pattern":"x"}`),
			[][2]string{{"ripgrep", "'ripgrep' was read as 'Search'"}, {"Serach", "did you mean 'Search'?"}}},
		{"action over MCP", overMCP(`"name":"describe_actions","arguments":{"action":"%s"}`), [][2]string{
			{"grep", "did you mean 'search'?"}, {"serach", "did you mean 'search'?"},
		}},
		{"pipeline over MCP", overMCP(`"name":"batch_operations","arguments":{"pipeline_json":{"name":"p","steps":[` +
			`{"id":"a","action":"%s","params":{"pattern":"x"}}]}}`), [][2]string{
			{"grep", "did you mean 'search'?"}, {"srch", "'srch' was read as 'search'"},
		}},
	}
}

// Every door answers a wrong name with the right name, and all doors have the same synonyms.
func TestMeantAtEveryDoor(t *testing.T) {
	t.Parallel()
	for _, door := range meantDoors() {
		for _, pair := range door.pairs {
			t.Run(door.name+", "+pair[0], func(t *testing.T) {
				t.Parallel()
				if answer := door.ask(t, pair[0]); !strings.Contains(answer, pair[1]) {
					t.Errorf("the answer is %s\nwant %s", answer, pair[1])
				}
			})
		}
	}
}

type meantDoor struct {
	name  string
	ask   func(t *testing.T, name string) (answer string)
	pairs [][2]string
}

const searchStep = `{"id":"find","action":"search","params":{"pattern":"x"}}`

// onCondition is a step with a condition.
func onCondition(fields string) string {
	return `"action":"fail","params":{"message":"m"},"condition":{` + fields + `}`
}

// second puts the wrong name into the second step of a pipeline.
func second(step string) func(*testing.T, string) string {
	return strict(`{"name":"p","steps":[` + searchStep + `,{"id":"b",` + step + `}]}`)
}

// strict puts the wrong name into a pipeline in JSON.
func strict(format string) func(*testing.T, string) string { return inFile("p.json", format) }

// inFile puts the wrong name into a pipeline in a file.
func inFile(file, format string) func(*testing.T, string) string {
	return func(t *testing.T, name string) string {
		dir := t.TempDir()
		writeText(t, filepath.Join(dir, file), fmt.Sprintf(format, name))
		return told(t, dir, "validate", file)
	}
}

// prompt puts the wrong name into a command.
func prompt(format string) func(*testing.T, string) string {
	return func(t *testing.T, name string) string {
		return told(t, t.TempDir(), strings.Fields(fmt.Sprintf(format, name))...)
	}
}

// configured puts the wrong name into a configuration of the user.
func configured(format string) func(*testing.T, string) string {
	return func(t *testing.T, name string) string {
		dir := t.TempDir()
		writeText(t, filepath.Join(dir, config.UserFile), fmt.Sprintf(format, name))
		_, err := config.Load(dir, nil)
		return fmt.Sprint(err)
	}
}

// inProject puts the wrong name into a configuration of a project.
func inProject(format string) func(*testing.T, string) string {
	return func(t *testing.T, name string) string {
		dir := t.TempDir()
		writeText(t, filepath.Join(dir, config.ProjectFile), fmt.Sprintf(format, name))
		return told(t, dir, "search", "x")
	}
}

// lenient puts the wrong name into a pipeline, decodes it as doors for models do, and returns the warnings.
func lenient(format string) func(*testing.T, string) string {
	return func(t *testing.T, name string) string {
		p, err := millrace.Decoder{Lenient: true}.Decode([]byte(fmt.Sprintf(format, name)))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(p.Warnings())
	}
}

// told runs a command in a directory, and returns its whole output.
func told(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	a := &cli.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: dir, Getenv: noEnv}
	a.Run(t.Context(), args)
	return out.String()
}

// overMCP calls a tool of the command's server with the wrong name, and returns the answer.
func overMCP(format string) func(*testing.T, string) string {
	return func(t *testing.T, name string) string {
		dir := t.TempDir()
		writeText(t, filepath.Join(dir, "a.txt"), "x\n")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		in, requests := io.Pipe()
		answers, out := io.Pipe()
		a := &cli.App{Stdin: in, Stdout: out, Stderr: io.Discard, Dir: dir, Getenv: noEnv}
		over := make(chan struct{})
		go func() {
			defer close(over)
			a.Run(ctx, []string{"mcp"})
			_ = out.Close()
		}()
		go func() {
			_, _ = io.WriteString(requests, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{`+
				`"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n"+
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+fmt.Sprintf(format, name)+"}}\n")
		}()
		lines := bufio.NewScanner(answers)
		lines.Buffer(nil, 1<<20)
		text := ""
		for text == "" && lines.Scan() {
			var message struct{ ID int }
			if json.Unmarshal(lines.Bytes(), &message) == nil && message.ID == 1 {
				text = lines.Text()
			}
		}
		_ = requests.Close()
		_, _ = io.Copy(io.Discard, answers)
		<-over
		return text
	}
}

func noEnv(string) string { return "" }

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
