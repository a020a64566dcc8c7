package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

// Each command has a page in which only the generator's requests are requests.
func TestManPages(t *testing.T) {
	t.Parallel()
	groff, missing := exec.LookPath("groff")
	pages := make(map[string]string)
	err := cli.ManPages(func(name, page string) error {
		pages[name] = page
		for line := range strings.Lines(page) {
			request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case strings.HasPrefix(line, "'"), strings.HasPrefix(line, ".") &&
				!strings.Contains(" .TH .SH .B .TP .nf .fi ", " "+request+" "):
				t.Errorf("%s: %q is a request", name, line)
			}
		}
		if missing == nil {
			cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
			cmd.Stdin = strings.NewReader(page)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"millrace.1", "millrace-run.1", "millrace-undo.1", "millrace-log-prune.1",
		"millrace-exit-codes.1", "millrace-config.1"} {
		if !strings.HasPrefix(pages[name], ".TH MILLRACE") {
			t.Errorf("%s begins with %.40q", name, pages[name])
		}
	}
	if !strings.Contains(pages["millrace-undo.1"], `\fB\-\-last\fR`) ||
		!strings.Contains(pages["millrace-undo.1"], `\fBmillrace\fR(1)`) {
		t.Errorf("the page of undo:\n%s", pages["millrace-undo.1"])
	}
	if len(pages) < 25 {
		t.Errorf("only %d pages", len(pages))
	}
}
