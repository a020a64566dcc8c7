package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

// run runs a command in an empty directory with this stdin.
func run(ctx context.Context, t *testing.T, stdin io.Reader, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &cli.App{Stdin: stdin, Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: t.TempDir()}
	return a.Run(ctx, args), out.String(), errs.String()
}

// A command that reads from a pipe without data ends when the user cancels it.
func TestSilentInput(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if status, stdout, _ := run(ctx, t, in, "run", "-"); status != 130 || stdout != "" {
		t.Errorf("exit status %d, stdout %q", status, stdout)
	}
}

// With --format json stdout is a single object, for every error and every position of the flag.
func TestOneObjectForErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args   string
		status int
		code   string
	}{
		{"run - --format json", 2, "invalid_pipeline"},
		{"run missing.json --format=json", 2, "usage"},
		{"plan --nonsense - --format json", 2, "usage"},
		{"plan --format json", 2, "usage"},
		{"plna --format json", 2, "usage"},
		{"apply - --format json", 2, "invalid_plan"},
		{"run - --ceiling huge --format json", 2, "usage"},
	} {
		status, stdout, stderr := run(t.Context(), t, strings.NewReader("{}"), strings.Fields(test.args)...)
		var object struct {
			Error struct{ Code, Message string }
		}
		d := json.NewDecoder(strings.NewReader(stdout))
		if err := d.Decode(&object); err != nil || d.Decode(new(any)) != io.EOF {
			t.Errorf("%s: stdout is not one object: %q", test.args, stdout)
		}
		if status != test.status || object.Error.Code != test.code || object.Error.Message == "" || stderr != "" {
			t.Errorf("%s: status %d, %+v, stderr %q", test.args, status, object, stderr)
		}
	}
}
